package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/try"
)

// shownRules is how many rules are shown.
const shownRules = 12

// ruleCost is the cost of a rule alone.
type ruleCost struct {
	cost
	path, rule string
}

// costsOfRules prints the rules that cost most, each evaluated alone in this process as the API server does.
func (b *bench) costsOfRules() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	try.Do(yaml.Unmarshal(try.Get(os.ReadFile(filepath.Join(b.root, "config/crd/bases/app.example.com_appservices.yaml"))), crd))
	internal := &apiextensions.JSONSchemaProps{}
	try.Do(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil))
	schema := try.Get(structuralschema.NewStructural(internal))
	for _, size := range objects {
		object := b.object("all", size, "web").Object
		defaulting.Default(object, schema)
		var found []ruleCost
		each("", schema, func(path string, node *structuralschema.Structural) {
			for n, rule := range node.XValidations {
				found = append(found, ruleCost{evaluate(alone(schema, path, n), object), path, rule.Rule})
			}
		})
		slices.SortFunc(found, func(a, b ruleCost) int { return cmp.Compare(b.KiB, a.KiB) })
		all := evaluate(schema, object)
		fmt.Printf("\nrules for the %s object, in this process: all %d take %.0f µs and %.0f KiB; alone:\n", size, len(found), all.Milliseconds*1000, all.KiB)
		for _, r := range found[:min(shownRules, len(found))] {
			fmt.Printf("%8.0f µs %7.1f KiB  %s  %s\n", r.Milliseconds*1000, r.KiB, r.path, r.rule[:min(len(r.rule), 100)])
		}
	}
}

// each calls do for a schema and all in it, with their paths.
func each(path string, s *structuralschema.Structural, do func(string, *structuralschema.Structural)) {
	if s == nil {
		return
	}
	do(path, s)
	for name, property := range s.Properties {
		each(path+"."+name, &property, do)
		s.Properties[name] = property
	}
	each(path+"[]", s.Items, do)
	if s.AdditionalProperties != nil {
		each(path+"{}", s.AdditionalProperties.Structural, do)
	}
}

// alone returns a schema with one of its rules.
func alone(s *structuralschema.Structural, path string, number int) *structuralschema.Structural {
	s = s.DeepCopy()
	each("", s, func(at string, node *structuralschema.Structural) {
		if at == path {
			node.XValidations = node.XValidations[number : number+1]
		} else {
			node.XValidations = nil
		}
	})
	return s
}

// evaluate returns the cost of the rules of a schema for an object, which they accept.
func evaluate(s *structuralschema.Structural, object map[string]any) cost {
	validator := cel.NewValidator(s, true, celconfig.PerCallLimit)
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if errs, _ := validator.Validate(context.Background(), nil, s, object, nil, celconfig.RuntimeCELCostBudget); len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	})
	return cost{float64(result.NsPerOp()) / 1e6, float64(result.AllocedBytesPerOp()) / 1024}
}
