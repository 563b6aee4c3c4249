package main

import (
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// validate validates a CRD as the API server does. Errors within what a chart declares come with file and line.
func validate(crd *apiextensionsv1.CustomResourceDefinition, declared *fields.File) error {
	found, err := fields.Validate(crd)
	wrong := []error{err}
	for _, err := range found {
		// Before the rules that the chart declares for the whole spec are those of the Go type.
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if problem, located := declared.Locate(err, len(spec.XValidations)-len(declared.Spec.XValidations)); located {
			wrong = append(wrong, problem)
		} else {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}
