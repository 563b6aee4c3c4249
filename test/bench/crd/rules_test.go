package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/bench/load"
)

func TestRules(t *testing.T) {
	text, _ := os.ReadFile("../../../config/crd/bases/app.example.com_appservices.yaml")
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatal(err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	small := load.AppService(schema.GroupVersion{Group: "app.example.com", Version: "v1"}, "default", "written", 0).Object
	full := map[string]any{}
	ft, _ := os.ReadFile("../../../config/samples/full.yaml")
	yaml.Unmarshal(ft, &full)
	for name, o := range map[string]map[string]any{"small": small, "full": full} {
		defaulting.Default(o, s)
		all := measure(s, o)
		t.Logf("%s all rules: %v", name, all)
		type row struct {
			path, rule string
			c          cost
		}
		var rows []row
		var total cost
		each("", s, func(path string, node *structuralschema.Structural) {
			for n := range node.XValidations {
				only := s.DeepCopy()
				each("", only, func(p string, other *structuralschema.Structural) {
					if p != path {
						other.XValidations = nil
					} else {
						other.XValidations = other.XValidations[n : n+1]
					}
				})
				c := measure(only, o)
				total.Milliseconds += c.Milliseconds
				total.KiB += c.KiB
				rows = append(rows, row{path, node.XValidations[n].Rule, c})
			}
		})
		sort.Slice(rows, func(i, j int) bool { return rows[i].c.KiB > rows[j].c.KiB })
		t.Logf("%s sum of rules one by one: %v", name, total)
		for n, r := range rows {
			if n < 40 {
				fmt.Printf("%s %6.1f KiB %6.0f µs %s: %s\n", name, r.c.KiB, r.c.Milliseconds*1000, r.path, r.rule)
			}
		}
	}
}

func each(path string, s *structuralschema.Structural, do func(string, *structuralschema.Structural)) {
	if s == nil {
		return
	}
	do(path, s)
	for name, p := range s.Properties {
		p := p
		each(path+"."+name, &p, do)
		s.Properties[name] = p
	}
	each(path+"[]", s.Items, do)
	if s.AdditionalProperties != nil {
		each(path+"{}", s.AdditionalProperties.Structural, do)
	}
}

func measure(s *structuralschema.Structural, o map[string]any) cost {
	v := cel.NewValidator(s, true, celconfig.PerCallLimit)
	if v == nil {
		return cost{}
	}
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			errs, _ := v.Validate(context.Background(), nil, s, o, nil, celconfig.RuntimeCELCostBudget)
			if len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	})
	return cost{float64(r.NsPerOp()) / 1e6, float64(r.AllocedBytesPerOp()) / 1024}
}
