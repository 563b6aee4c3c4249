package fields

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate validates a CRD as the API server does: structural schemas, defaults that fit, rules in CEL that compile and
// whose cost is bounded.
func Validate(crd *apiextensionsv1.CustomResourceDefinition) (field.ErrorList, error) {
	crd = crd.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
	internal := &apiextensions.CustomResourceDefinition{}
	convert := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition
	if err := convert(crd, internal, nil); err != nil {
		return nil, err
	}
	return validation.ValidateCustomResourceDefinition(context.Background(), internal), nil
}

// validate reports what the API server says of a CRD with the schema. References allow anything: their defaults are
// checked by the Go type. Rules may be about fields of the Go type, so they are left to the validation of the whole
// CRD.
func (p *parser) validate(s *props, at string) {
	spec, _ := Resolved(s, open) // open returns no error
	edit(&spec, func(s *props) {
		s.XValidations = nil
		if s.Type == "string" {
			s.Format = "" // else, the type of a default would not be checked
		}
	})
	found, err := Validate(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "examples.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "examples", Singular: "example", Kind: "Example", ListKind: "ExampleList",
			},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &props{Type: "object", Properties: map[string]props{"spec": spec}},
				},
			}},
		},
	})
	if err != nil {
		p.report("", "%v", err)
	}
	ofSchema := slices.DeleteFunc(slices.Clone(found), func(err *field.Error) bool {
		return strings.Contains(err.Field, ".default")
	})
	if len(ofSchema) > 0 {
		found = ofSchema // an invalid schema says nothing about defaults
	}
	for _, err := range found {
		const root = "openAPIV3Schema.properties[spec]"
		err.Field = strings.Replace(err.Field, root, root+at, 1)
		problem, located := p.file.Locate(err, 0)
		if !located {
			problem = p.file.problem(at, err.Error())
		}
		p.found = append(p.found, problem)
	}
}

// Locate returns an error in a CRD with its line in the file. Located is false if it is about something else. Rules is
// the number of rules for the whole spec that are not of the file; they come first.
func (f *File) Locate(err *field.Error, rules int) (problem Problem, located bool) {
	const ofSpec = ".x-kubernetes-validations["
	_, path, within := strings.Cut(err.Field, "openAPIV3Schema.properties[spec]")
	if rule, is := strings.CutPrefix(path, ofSpec); is {
		number, rest, _ := strings.Cut(rule, "]")
		index, _ := strconv.Atoi(number)
		path = fmt.Sprintf("%s%d]%s", ofSpec, index-rules, rest)
	}
	if end := strings.Index(path, "]"); end > 0 && f.lines[path[:end+1]] == 0 {
		return Problem{}, false // it is of a Go type
	}
	text := strings.Replace(err.ErrorBody(), ":  in body ", ": ", 1)
	if strings.Contains(path, ofSpec) {
		text = cmp.Or(err.Detail, text) // without the whole rule
	}
	return f.problem(path, text), within
}
