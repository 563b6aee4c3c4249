// Package definition does with a resource what the API server does with it by its custom resource definition: it drops what is unknown, fills
// in defaults, and refuses what schema or rules do not allow, in the server's own words and with its code. It asks no cluster, so admission
// policies are left out.
package definition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"sync/atomic"

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

// The API server's limits on the cost of rules, for one rule and for all rules of an object.
const (
	perCall = 1_000_000
	budget  = 10_000_000
)

// Definition is that of one version of a kind. It is safe for concurrent use.
type Definition struct {
	Kind runtimeschema.GroupVersionKind
	// Internal is the whole definition as the API server has it.
	Internal *apiextensions.CustomResourceDefinition

	structural *schema.Structural
	schema     validation.SchemaValidator
	ownStatus  bool // who creates a resource does not set its status
	rules      func() *cel.Validator
	admitted   atomic.Int32
}

// few is the number of resources up to which it is less work to compile the rules for each than to compile all once.
const few = 4

// Admitted is what becomes of a resource.
type Admitted struct {
	// Resource as it would be stored.
	Resource *unstructured.Unstructured
	// Unknown are the paths of fields that the definition does not have: the server refuses or drops them, as the client asks.
	Unknown []string
	// Errors are why it is refused.
	Errors field.ErrorList
}

// Read reads a definition of one version.
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
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(versioned, internal, nil); err != nil {
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

// Of finds the definition of a kind among the files of a folder, by the name that its file has there, and returns nil if there is none.
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

// Admit returns what becomes of a resource that is created.
func (d *Definition) Admit(ctx context.Context, in *unstructured.Unstructured) Admitted {
	out := Admitted{Resource: in.DeepCopy()}
	if out.Unknown, out.Errors = d.decode(out.Resource); len(out.Errors) > 0 {
		return out
	}
	content := out.Resource.Object
	out.Errors = apivalidation.ValidateObjectMetaAccessor(out.Resource, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	out.Errors = append(out.Errors, validation.ValidateCustomResource(nil, content, d.schema)...)
	out.Errors = append(out.Errors, listtype.ValidateListSetsAndMaps(nil, d.structural, content)...)
	if unchecked := blocked(out.Errors); unchecked != nil {
		out.Errors = append(out.Errors, unchecked)
		return out
	}
	s, rules := d.structural, (*cel.Validator)(nil)
	if d.admitted.Add(1) <= few {
		s = asked(s, content)
		rules = cel.NewValidator(s, true, perCall)
	} else {
		rules = d.rules()
	}
	refused, _ := rules.Validate(ctx, nil, s, content, nil, budget)
	out.Errors = append(out.Errors, refused...)
	return out
}

// decode does what the API server does to a resource that it reads to create it, before it looks whether it fits: what is unknown goes, and is
// returned, nulls are as if they were not there, defaults are filled in, the status is the operator's. The error is of metadata of another type.
func (d *Definition) decode(resource *unstructured.Unstructured) (unknown []string, errs field.ErrorList) {
	content := resource.Object
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(content, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, field.ErrorList{{Type: field.ErrorTypeTypeInvalid, Field: "metadata", BadValue: field.OmitValueType{}, Detail: err.Error()}}
	}
	unknown = append(unknown, pruning.PruneWithOptions(content, d.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
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

// Change returns why a resource cannot become another, by the rules.
func (d *Definition) Change(ctx context.Context, before, after *unstructured.Unstructured) field.ErrorList {
	refused, _ := d.rules().Validate(ctx, nil, d.structural, after.Object, before.Object, budget)
	return refused
}

// blocked is what the API server says where errors keep it from checking rules.
func blocked(errs field.ErrorList) *field.Error {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")
		}
	}
	return nil
}

// asked is a schema with the rules of those fields only that a value has. The types stay as they are: rules see those below. To compile all
// rules of a kind takes several times as long.
func asked(s *schema.Structural, value any) *schema.Structural {
	copied := *s
	switch value := value.(type) {
	case map[string]any:
		if len(s.Properties) > 0 { // an object with properties, if there are none, is another type than a map
			copied.Properties = make(map[string]schema.Structural, len(s.Properties))
		}
		for name, property := range s.Properties {
			copied.Properties[name] = *asked(&property, value[name])
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil && len(value) == 0 {
			copied.AdditionalProperties = &schema.StructuralOrBool{Structural: asked(s.AdditionalProperties.Structural, nil), Bool: s.AdditionalProperties.Bool}
		}
	case []any:
		if s.Items != nil && len(value) > 0 {
			copied.Items = union(s.Items, value)
		}
		if s.Items != nil && len(value) == 0 {
			copied.Items = asked(s.Items, nil)
		}
	case nil:
		return ruleless(s)
	}
	return &copied
}

// union is the schema of items with the rules of those fields that one of them has.
func union(s *schema.Structural, items []any) *schema.Structural {
	all := map[string]any{}
	for _, item := range items {
		fields, isMap := item.(map[string]any)
		if !isMap {
			return s
		}
		for name, value := range fields {
			if _, there := all[name]; there {
				return s // its fields would have to be put together, too
			}
			all[name] = value
		}
	}
	return asked(s, all)
}

// ruleless is a schema without rules.
func ruleless(s *schema.Structural) *schema.Structural {
	copied := *s
	copied.XValidations = nil
	if len(s.Properties) > 0 {
		copied.Properties = make(map[string]schema.Structural, len(s.Properties))
		for name, property := range s.Properties {
			copied.Properties[name] = *ruleless(&property)
		}
	}
	if s.Items != nil {
		copied.Items = ruleless(s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		copied.AdditionalProperties = &schema.StructuralOrBool{Structural: ruleless(s.AdditionalProperties.Structural), Bool: s.AdditionalProperties.Bool}
	}
	return &copied
}
