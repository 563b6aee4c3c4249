package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/example/appservice-operator/internal/fields"
)

// validate checks a CRD as the API server does: structural schemas, defaults that fit, rules in CEL that compile and whose cost is bounded. Errors
// within what a chart declares come with file and line.
func validate(crd *apiextensionsv1.CustomResourceDefinition, declared *fields.File) error {
	crd = crd.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		return err
	}
	var wrong []error
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
		wrong = append(wrong, located(err, declared, rulesOfType(crd, declared)))
	}
	return errors.Join(wrong...)
}

// step is one of the path of an error, as in properties[spec], items or x-kubernetes-validations[2].
var step = regexp.MustCompile(`([A-Za-z0-9-]+)(?:\[([^\]]*)\])?`)

// located is an error of the API server's with file and line, and the field in words of the file, if it is within what a chart declares.
// Before its rules for the whole spec stand those of the Go type.
func located(err *field.Error, declared *fields.File, rules int) error {
	_, within, found := strings.Cut(err.Field, "openAPIV3Schema.properties[spec]")
	if !found || declared == nil {
		return err
	}
	at, path, line := declared.Spec, "spec", 0
	for _, found := range step.FindAllStringSubmatch(within, -1) {
		key, name := found[1], found[2]
		var next *fields.Schema
		switch key {
		case "properties":
			if next, path = at.Properties[name], path+"."+name; next == nil && at == declared.Spec {
				return err // it is a field of a Go type
			}
		case "items":
			next, path = at.Items, path+"[]"
		case "additionalProperties":
			next, path = at.AdditionalProperties, path+".*"
		case "x-kubernetes-validations":
			index, _ := strconv.Atoi(name)
			if at == declared.Spec {
				index -= rules
			}
			line = at.LineOfRule(index)
		default:
			line = at.LineOf(key)
		}
		if next == nil {
			break
		}
		at, line = next, next.Line
	}
	if line == 0 {
		return err
	}
	return fmt.Errorf("%s:%d: %s: %s", declared.Path, line, path, cmp.Or(err.Detail, err.ErrorBody()))
}

// rulesOfType is the number of rules for the whole spec that the chart does not declare.
func rulesOfType(crd *apiextensionsv1.CustomResourceDefinition, declared *fields.File) int {
	if declared == nil {
		return 0
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	return len(spec.XValidations) - len(declared.Spec.Rules)
}
