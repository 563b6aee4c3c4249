package kinds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// mostCRD is the largest file of a CRD, in bytes: kubectl apply keeps a copy of it in an annotation.
const mostCRD = 256 << 10

// value is what is known of a value of a chart. Without a type, it may be anything.
type value struct {
	says, kind string
	below      map[string]*value
}

// valuesOf returns the values of a chart and of its subcharts, and the paths of those whose type a CRD cannot state.
func valuesOf(c *helmchart.Chart) (root *value, open []string) {
	var text []byte
	for _, file := range c.Raw {
		if file.Name == "values.yaml" {
			text = file.Data
		}
	}
	described := &described{says: comments(text)}
	if err := json.Unmarshal(c.Schema, &described.schema); err != nil {
		described.schema = nil // Helm reports the error
	}
	root = described.value(c.Values, described.schema, "")
	for _, dependency := range c.Dependencies() {
		if dependency.Metadata.Type == "library" {
			continue
		}
		below, more := valuesOf(dependency)
		if global := below.below["global"]; global != nil {
			delete(below.below, "global")
			root.add("global", global)
		}
		for _, name := range namesOf(c, dependency) {
			for _, path := range more {
				described.open = append(described.open, name+"."+path)
			}
			root.add(name, below.clone())
		}
	}
	return root, described.open
}

// namesOf returns the keys of values.yaml for a subchart: its name, or its aliases.
func namesOf(c, dependency *helmchart.Chart) []string {
	var list []string
	for _, wanted := range c.Metadata.Dependencies {
		switch {
		case wanted.Name != dependency.Name():
		case wanted.Alias != "":
			list = append(list, wanted.Alias)
		default:
			list = append(list, wanted.Name)
		}
	}
	if len(list) == 0 {
		return []string{dependency.Name()}
	}
	return list
}

// add puts a value beneath what is known of one of that name.
func (v *value) add(name string, other *value) {
	known := v.below[name]
	if known == nil {
		if v.below == nil {
			v.below = map[string]*value{}
		}
		v.below[name] = other
		return
	}
	if known.says == "" {
		known.says = other.says
	}
	if known.kind == "" && len(known.below) == 0 {
		known.kind = other.kind
	}
	for name, further := range other.below {
		known.add(name, further)
	}
}

func (v *value) clone() *value {
	out := &value{says: v.says, kind: v.kind}
	for name, below := range v.below {
		out.add(name, below.clone())
	}
	return out
}

// described is what a chart says of its values, apart from the values themselves.
type described struct {
	says   map[string]string
	schema map[string]any
	open   []string
}

func (d *described) value(of any, schema map[string]any, path string) *value {
	schema = d.resolve(schema)
	v := &value{says: d.says[path], kind: typeOf(schema)}
	if text, said := schema["description"].(string); said && v.says == "" {
		v.says = firstSentence(text)
	}
	nested, _ := of.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	names := slices.Concat(slices.Collect(maps.Keys(nested)), slices.Collect(maps.Keys(properties)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		property, _ := properties[name].(map[string]any)
		v.add(name, d.value(nested[name], property, strings.TrimPrefix(path+"."+name, ".")))
	}
	if v.kind != "" && v.kind != "object" && len(v.below) > 0 {
		v.kind = "" // the chart contradicts itself
	}
	if v.kind == "" && path != "" && restricts(schema) {
		d.open = append(d.open, path)
	}
	return v
}

// resolve follows references within the schema.
func (d *described) resolve(schema map[string]any) map[string]any {
	for range 10 {
		ref, is := schema["$ref"].(string)
		path, inside := strings.CutPrefix(ref, "#/")
		if !is || !inside {
			return schema
		}
		at := d.schema
		for step := range strings.SplitSeq(path, "/") {
			at, _ = at[step].(map[string]any)
		}
		if at == nil {
			return schema
		}
		schema = at
	}
	return nil // a circle
}

var types = []string{"array", "boolean", "integer", "number", "object", "string"}

// typeOf returns the one type that a JSON schema allows, besides null, which removes a default.
func typeOf(schema map[string]any) string {
	list, _ := schema["type"].([]any)
	if list == nil {
		list = []any{schema["type"]}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(one any) bool { return one == "null" })
	if len(list) != 1 {
		return ""
	}
	if name, is := list[0].(string); is && slices.Contains(types, name) {
		return name
	}
	return ""
}

// restricts reports whether a JSON schema allows less than anything.
func restricts(schema map[string]any) bool {
	for _, key := range []string{"type", "$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const", "if"} {
		if _, there := schema[key]; there {
			return true
		}
	}
	return false
}

// property is the schema of a value. Everything is nullable and allows unknown fields: a value may be null, to remove a
// default of the chart, and a template may read what values.yaml does not have.
func (v *value) property() apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{
		Description: v.says, Type: v.kind, Nullable: true, XPreserveUnknownFields: ptr.To(true),
	}
	if v.kind == "array" {
		anything := (&value{}).property()
		out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &anything}
	}
	for name, below := range v.below {
		if out.Properties == nil {
			out.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		out.Properties[name] = below.property()
	}
	return out
}

// depth is that of the deepest value that a test holds for; 0 if it holds for none.
func (v *value) depth(holds func(*value) bool) int {
	deepest := 0
	for _, below := range v.below {
		of := below.depth(holds)
		if of > 0 || holds(below) {
			deepest = max(deepest, of+1)
		}
	}
	return deepest
}

// each calls a function for all values at a depth.
func (v *value) each(depth int, call func(*value)) {
	for _, below := range v.below {
		if depth == 1 {
			call(below)
		} else {
			below.each(depth-1, call)
		}
	}
}

// crdFile returns the file of the CRD of a kind with the spec that a chart takes. If it is too large, parts are left
// out, the deepest first: descriptions, then properties, which then may be anything.
func (k kind) crdFile(like *apiextensionsv1.CustomResourceDefinition, c *helmchart.Chart, spec *value) ([]byte, error) {
	for {
		text, err := k.crdOf(like, c, spec)
		if err != nil || len(text) <= mostCRD {
			return text, err
		}
		if deepest := spec.depth(func(v *value) bool { return v.says != "" }); deepest > 0 {
			spec.each(deepest, func(v *value) { v.says = "" })
			continue
		}
		deepest := spec.depth(func(*value) bool { return true })
		if deepest == 0 {
			return nil, fmt.Errorf("the CRD of %s has %d bytes even without a property", k.Kind, len(text))
		}
		cut := func(v *value) { v.below = nil }
		if deepest == 1 {
			cut(spec)
		} else {
			spec.each(deepest-1, cut)
		}
	}
}

func (k kind) crdOf(like *apiextensionsv1.CustomResourceDefinition, c *helmchart.Chart, spec *value) ([]byte, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{TypeMeta: like.TypeMeta, Spec: *like.Spec.DeepCopy()}
	singular := k.name()
	plural := k.guessed()
	crd.Name = plural + "." + k.Group
	crd.Spec.Group = k.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: k.Kind, ListKind: k.Kind + "List", Plural: plural, Singular: singular, Categories: []string{v1.Category},
	}
	crd.Spec.Versions = crd.Spec.Versions[:1]
	version := &crd.Spec.Versions[0]
	version.Name = k.Version
	version.Subresources.Scale = nil
	root := version.Schema.OpenAPIV3Schema
	root.XValidations = nil
	root.Required = nil
	root.Description = firstSentence(c.Metadata.Description)
	property := spec.property()
	property.Type, property.Nullable = "object", false
	property.Description = "The values of the chart " + c.Name() + ". null removes a default of the chart."
	root.Properties["spec"] = property
	version.AdditionalPrinterColumns = slices.DeleteFunc(version.AdditionalPrinterColumns, ofSpec)
	return encode(crd)
}

func ofSpec(column apiextensionsv1.CustomResourceColumnDefinition) bool {
	return strings.HasPrefix(column.JSONPath, ".spec.")
}

// encode returns the text of a CRD.
func encode(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	raw, err := json.Marshal(crd)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a float64 would not keep every integer
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	delete(object, "status")
	text, err := yaml.Marshal(object)
	return append([]byte("---\n"), text...), err
}

// refresh copies the status that all kinds have to the CRDs of published charts.
func refresh(root string, list []kind) error {
	like, err := typical(list)
	if err != nil {
		return err
	}
	for _, k := range list {
		if !k.Is() {
			continue
		}
		k.crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] =
			like.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
		text, err := encode(k.crd)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, "config/crd/bases", k.file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// typical is a CRD whose status, subresources and columns are those of all kinds.
func typical(list []kind) (*apiextensionsv1.CustomResourceDefinition, error) {
	for _, k := range list {
		if !k.Is() && k.crd != nil {
			return k.crd, nil
		}
	}
	return nil, fmt.Errorf("watches.yaml has no kind with a Go type, so the status of a kind is not known")
}
