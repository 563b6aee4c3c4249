package v1_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// explained is a field of ours and what kubectl explain says of it.
type explained struct {
	path, description string
	goNames           []string // of the field and of its type
}

// explain walks a Go type of ours and the schema that was generated from it. It stops at types of other packages, whose
// descriptions are left out of the definition.
func explain(t *testing.T, path string, of reflect.Type, schema apiextensionsv1.JSONSchemaProps) []explained {
	t.Helper()
	for {
		switch {
		case of.Kind() == reflect.Slice && schema.Items != nil:
			of, schema = of.Elem(), *schema.Items.Schema
			continue
		case of.Kind() == reflect.Map && schema.AdditionalProperties != nil:
			of, schema = of.Elem(), *schema.AdditionalProperties.Schema
			continue
		case of.Kind() == reflect.Pointer:
			of = of.Elem()
			continue
		}
		break
	}
	if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[v1.AppService]().PkgPath() {
		return nil
	}
	var fields []explained
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "metadata" {
			continue
		}
		if name == "" { // the fields of a type that is embedded stand beside the others
			fields = append(fields, explain(t, path, field.Type, schema)...)
			continue
		}
		property, found := schema.Properties[name]
		if !found {
			t.Errorf("%s.%s is not in the definition", path, name)
			continue
		}
		fields = append(fields, explained{path + "." + name, property.Description, []string{field.Name, nameOf(field.Type)}})
		fields = append(fields, explain(t, path+"."+name, field.Type, property)...)
	}
	return fields
}

// nameOf returns the name of a type, or of what it points to or holds.
func nameOf(of reflect.Type) string {
	for of.Name() == "" {
		of = of.Elem()
	}
	return of.Name()
}

// flaw tells what is wrong with a description for someone who reads it by kubectl explain; "" for nothing.
func flaw(field explained) string {
	name := field.path[strings.LastIndex(field.path, ".")+1:]
	first, _, _ := strings.Cut(field.description, " ")
	first = strings.TrimRight(first, ":,.")
	switch {
	case field.description == "":
		return "it has no description"
	case !strings.HasSuffix(field.description, "."):
		return "it does not end with a full stop"
	case !regexp.MustCompile(`^[A-Z]`).MatchString(field.description):
		return "it does not begin with a capital letter"
	case slices.Contains(field.goNames, first) && !strings.EqualFold(first, name):
		return "it begins with a name that Go code has for the field or its type, and nobody else"
	case strings.Contains(field.description, "+kubebuilder") || strings.Contains(field.description, "TODO"):
		return "it holds what is meant for generators or authors"
	}
	return ""
}

func TestKubectlExplainReadsWell(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict(crdFile(t), definition))
	schema := *definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	fields := explain(t, "appservice", reflect.TypeFor[v1.AppService](), schema)
	if len(fields) < 150 {
		t.Errorf("only %d fields were found", len(fields))
	}
	for _, field := range append(fields, explained{path: "AppService", description: schema.Description}) {
		if flaw := flaw(field); flaw != "" {
			t.Errorf("%s: %s: %q", field.path, flaw, field.description)
		}
	}
}

func TestFlawsOfDescriptionsAreFound(t *testing.T) {
	cases := map[string]struct {
		field explained
		flaws bool
	}{
		"a sentence":                       {explained{"spec.size", "Number of replicas.", []string{"Size", "Setting"}}, false},
		"two, over two lines":              {explained{"spec.size", "Number of replicas.\nDefaults to 1.", []string{"Size", "Setting"}}, false},
		"the name of the field in capital": {explained{"spec.size", "Size is the number of replicas.", []string{"Size", "Setting"}}, false},
		"an acronym":                       {explained{"spec.tls", "TLS lists certificates.", []string{"TLS", "Setting"}}, false},
		"nothing":                          {explained{"spec.size", "", []string{"Size", "Setting"}}, true},
		"no full stop":                     {explained{"spec.size", "Number of replicas", []string{"Size", "Setting"}}, true},
		"a small letter":                   {explained{"spec.size", "number of replicas.", []string{"Size", "Setting"}}, true},
		"a name that is known to Go alone": {explained{"spec.size", "ReplicaCount is the number.", []string{"ReplicaCount", "Setting"}}, true},
		"such a name and a colon":          {explained{"spec.size", "ReplicaCount: the number.", []string{"ReplicaCount", "Setting"}}, true},
		"a name of a type":                 {explained{"spec.size", "Setting is a number.", []string{"Size", "Setting"}}, true},
		"a marker":                         {explained{"spec.size", "Size. +kubebuilder:validation:Minimum=0.", []string{"Size", "Setting"}}, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := flaw(test.field); (got != "") != test.flaws {
				t.Errorf("got the flaw %q, want one: %t", got, test.flaws)
			}
		})
	}
}
