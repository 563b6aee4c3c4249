package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// complete adds what charts declare to the CRDs of the Go types, and makes those of the kinds that have none. All of them are validated.
func complete(crds []apiextensionsv1.CustomResourceDefinition, charts []*served) ([]apiextensionsv1.CustomResourceDefinition, error) {
	spec := crds[0].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	like, refs := crds[0].DeepCopy(), resolver{spec.DeepCopy()}
	var wrong []error
	for _, chart := range charts {
		if chart.declared == nil {
			continue
		}
		at := chart.of(crds)
		var err error
		if at >= 0 {
			err = merge(&crds[at], chart.declared, refs)
		} else {
			var made *apiextensionsv1.CustomResourceDefinition
			if made, err = newKind(like, chart, refs); err == nil {
				crds, at = append(crds, *made), len(crds)
			}
		}
		if err == nil {
			err = validate(&crds[at], chart.declared)
		}
		wrong = append(wrong, err)
	}
	return crds, errors.Join(wrong...)
}

// merge adds what a chart declares to the CRD of its kind.
func merge(crd *apiextensionsv1.CustomResourceDefinition, declared *fields.File, refs resolver) error {
	declaredSpec, err := fields.Resolved(declared.Spec, refs.resolve)
	if err != nil {
		return fmt.Errorf("%s: %w", declared.Path, err)
	}
	for i := range crd.Spec.Versions {
		root := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		spec := root.Properties["spec"]
		for name, property := range declaredSpec.Properties {
			spec.Properties[name] = property
		}
		spec.XValidations = append(spec.XValidations, declaredSpec.XValidations...)
		root.Properties["spec"] = spec
	}
	return nil
}

// newKind makes the CRD of a kind that has no Go type: its spec is what the chart declares, everything else is that of a kind that has one.
func newKind(like *apiextensionsv1.CustomResourceDefinition, of *served, refs resolver) (*apiextensionsv1.CustomResourceDefinition, error) {
	if of.declared.Kind == nil {
		return nil, fmt.Errorf("%s:1: %s has no Go type, so the file must describe it: kind: {description: ...}", of.declared.Path, of.Kind)
	}
	spec, err := fields.Resolved(of.declared.Spec, refs.resolve)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.declared.Path, err)
	}
	spec.Description = of.Kind + "Spec is what the chart of " + of.Kind + " takes."
	crd := like.DeepCopy()
	describe(crd, of)
	crd.Spec.Versions = crd.Spec.Versions[:1]
	version := &crd.Spec.Versions[0]
	version.Name = of.Version
	version.Subresources.Scale = nil
	root := version.Schema.OpenAPIV3Schema
	root.Description = of.declared.Kind.Description
	root.Properties["spec"] = spec
	version.AdditionalPrinterColumns = slices.DeleteFunc(version.AdditionalPrinterColumns, func(column apiextensionsv1.CustomResourceColumnDefinition) bool {
		field, ofSpec := strings.CutPrefix(column.JSONPath, ".spec.")
		_, there := spec.Properties[field]
		return ofSpec && !there
	})
	return crd, nil
}

func describe(crd *apiextensionsv1.CustomResourceDefinition, of *served) {
	described, singular := of.declared.Kind, strings.ToLower(of.Kind)
	plural := described.Plural
	if plural == "" {
		plural = flect.Pluralize(singular)
	}
	crd.Name = plural + "." + of.Group
	crd.Spec.Group = of.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: of.Kind, ListKind: of.Kind + "List", Plural: plural, Singular: singular,
		ShortNames: described.ShortNames, Categories: append(slices.Clone(described.Categories), v1.Category),
	}
}

// resolver finds the fields of the Go types that charts refer to, before anything is merged into them.
type resolver struct{ spec *props }

func (r resolver) resolve(ref string) (props, error) {
	at := r.spec
	for _, step := range strings.Split(ref, ".")[2:] { // KIND.spec.
		next, found := at.Properties[step]
		if !found {
			return props{}, fmt.Errorf("$ref %s: the CRD has no field %s", ref, step)
		}
		at = &next
	}
	return *at.DeepCopy(), nil
}
