// Package crd applies a custom resource definition to resources like the API server, with the server's own code and
// messages: it prunes unknown fields, sets defaults, and validates the schema and the CEL rules. It reads no cluster,
// so it does not evaluate admission policies.
package crd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/yaml"
)

// The API server's limits on the CEL cost of one rule, and of all rules of an object.
const (
	perCall = 1_000_000
	budget  = 10_000_000
)

// Definition is the definition of one version of a kind. It is safe for concurrent use.
type Definition struct {
	Kind runtimeschema.GroupVersionKind
	// Internal is the whole definition in the API server's internal version.
	Internal *apiextensions.CustomResourceDefinition

	structural *schema.Structural
	schema     validation.SchemaValidator
	ownStatus  bool // the status is a subresource, so creating a resource does not set it
	rules      func() *cel.Validator
}

// Admitted is the result of admitting a resource.
type Admitted struct {
	// Resource is the resource as it would be stored.
	Resource *unstructured.Unstructured
	// Unknown are the paths of unknown fields: the server refuses or drops them, depending on the client's field
	// validation.
	Unknown []string
	// Errors are the reasons why it is refused; empty if it is admitted.
	Errors field.ErrorList
}

// Read parses a CustomResourceDefinition, in YAML or JSON. It returns an error unless it has exactly one version.
func Read(text []byte) (*Definition, error) {
	versioned, internal := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, versioned); err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(versioned)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&versioned.Spec)
	if len(versioned.Spec.Versions) != 1 {
		return nil, fmt.Errorf("definition %s has %d versions, and not one", versioned.Name, len(versioned.Spec.Versions))
	}
	version := versioned.Spec.Versions[0].Name
	versioned.Status.StoredVersions = []string{version}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(versioned,
		internal, nil); err != nil {
		return nil, err
	}
	properties, err := apiextensions.GetSchemaForVersion(internal, version)
	if err != nil {
		return nil, err
	}
	kind := runtimeschema.GroupVersionKind{Group: internal.Spec.Group, Version: version, Kind: internal.Spec.Names.Kind}
	subresources, err := apiextensions.GetSubresourcesForVersion(internal, version)
	if err != nil {
		return nil, err
	}
	d := &Definition{Kind: kind, Internal: internal, ownStatus: subresources != nil && subresources.Status != nil}
	if d.structural, err = schema.NewStructural(properties.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	d.rules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(d.structural, true, perCall) })
	d.schema, _, err = validation.NewSchemaValidator(properties.OpenAPIV3Schema)
	return d, err
}

// Of reads the definition of a kind from the file GROUP_PLURAL.yaml of a folder. It returns nil if the file does not
// exist.
func Of(files fs.FS, dir string, kind runtimeschema.GroupVersionKind, plural string) (*Definition, error) {
	name := path.Join(dir, kind.Group+"_"+plural+".yaml")
	text, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if d.Kind != kind {
		return nil, fmt.Errorf("%s defines %s, and not %s", name, d.Kind, kind)
	}
	return d, nil
}

// Admit returns the result of creating a resource. The argument is not changed.
func (d *Definition) Admit(ctx context.Context, in *unstructured.Unstructured) Admitted {
	out := Admitted{Resource: in.DeepCopy()}
	if out.Unknown, out.Errors = d.decode(out.Resource); len(out.Errors) > 0 {
		return out
	}
	content := out.Resource.Object
	out.Errors = apivalidation.ValidateObjectMetaAccessor(out.Resource, true, apivalidation.NameIsDNSSubdomain,
		field.NewPath("metadata"))
	out.Errors = append(out.Errors, validation.ValidateCustomResource(nil, content, d.schema)...)
	out.Errors = append(out.Errors, listtype.ValidateListSetsAndMaps(nil, d.structural, content)...)
	if unchecked := blocked(out.Errors); unchecked != nil {
		out.Errors = append(out.Errors, unchecked)
		return out
	}
	refused, _ := d.rules().Validate(ctx, nil, d.structural, content, nil, budget)
	out.Errors = append(out.Errors, refused...)
	return out
}

// decode does what the API server does before it validates a new resource: it prunes unknown fields, whose paths it
// returns, and nulls of fields that are not nullable, sets defaults, and drops the status. It returns an error if
// metadata has a wrong type.
func (d *Definition) decode(resource *unstructured.Unstructured) (unknown []string, errs field.ErrorList) {
	content := resource.Object
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(content,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, field.ErrorList{{Type: field.ErrorTypeTypeInvalid, Field: "metadata", BadValue: field.OmitValueType{},
			Detail: err.Error()}}
	}
	unknown = append(unknown, pruning.PruneWithOptions(content, d.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(content, d.structural)
	defaulting.Default(content, d.structural)
	if d.ownStatus {
		delete(content, "status")
	}
	if resource.GetName() == "" && resource.GetGenerateName() != "" {
		resource.SetName(names.SimpleNameGenerator.GenerateName(resource.GetGenerateName()))
	}
	return unknown, nil
}

// Change returns the errors of the CEL rules for an update from one resource to another.
func (d *Definition) Change(ctx context.Context, before, after *unstructured.Unstructured) field.ErrorList {
	refused, _ := d.rules().Validate(ctx, nil, d.structural, after.Object, before.Object, budget)
	return refused
}

// RulesUnchecked is a remark of the API server beside other errors.
const RulesUnchecked = "some validation rules were not checked because the object was invalid; correct the existing errors " +
	"to complete validation"

// blocked returns the error that the API server adds if other errors keep it from evaluating rules; nil if none do.
func blocked(errs field.ErrorList) *field.Error {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return field.Invalid(nil, nil, RulesUnchecked)
		}
	}
	return nil
}
