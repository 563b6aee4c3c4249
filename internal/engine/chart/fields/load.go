package fields

import (
	"encoding/json"
	"fmt"
	"path"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Of parses the fields.yaml of a chart for a kind. It returns nil if the chart has none.
func Of(c *chart.Chart, kind schema.GroupVersionKind) (*File, error) {
	return OfFolder(c, c.Name(), kind)
}

// OfFolder is like Of, with the chart's folder as it appears in messages.
func OfFolder(c *chart.Chart, dir string, kind schema.GroupVersionKind) (*File, error) {
	text, there := textOf(c)
	if !there {
		return nil, nil
	}
	return For(kind, path.Join(dir, Name), text)
}

func textOf(c *chart.Chart) (text []byte, found bool) {
	for _, file := range c.Files {
		if file.Name == Name {
			return file.Data, true
		}
	}
	return nil, false
}

// For parses the text of a fields.yaml for a kind; name is the file's name in messages.
func For(kind schema.GroupVersionKind, name string, text []byte) (*File, error) {
	file, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	return file, file.fit(kind)
}

// fit checks the fields against the Go type of the kind, if it has one.
func (f *File) fit(kind schema.GroupVersionKind) error {
	core, typed := Core(kind)
	if !typed {
		return nil
	}
	var found Problems
	report := func(at, text string) { found = append(found, f.problem(at, fmt.Sprintf(text, kind.Kind))) }
	for name := range f.Spec.Properties {
		if Members(core)[name] != nil {
			report(".properties["+name+"]", "%s has this field already: take another name")
		}
	}
	if len(f.Spec.Required) > 0 {
		report(".required", "there are %ss without a new field, so it cannot be required: give it a default")
	}
	if f.Kind != nil {
		report(".kind", "%s is described by its Go type")
	}
	return found.err()
}

// Complete adds the fields that a chart declares to its values and its schema, so that they need no entry in
// values.yaml and values.schema.json. Values of values.yaml win over declared defaults. The raw files are not changed.
// Mistakes in fields.yaml are returned as Problems.
func Complete(c *chart.Chart, dir string) error {
	text, there := textOf(c)
	if !there {
		return nil
	}
	declared, err := Parse(path.Join(dir, Name), text)
	if err != nil || len(declared.Spec.Properties) == 0 {
		return err
	}
	c.Values = chartutil.CoalesceTables(c.Values, declared.Defaults())
	if c.Schema, err = declared.schema(c.Schema, c.Values); err != nil {
		return fmt.Errorf("%s: %w", path.Join(dir, "values.schema.json"), err)
	}
	return nil
}

// schema returns a values.schema.json with the declared properties in place of those that an earlier fields.yaml may
// have left. Properties with references to Go types are added only if they are missing: only the generated file has
// them in full.
func (f *File) schema(text []byte, values map[string]any) ([]byte, error) {
	document := map[string]any{"type": "object"}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, err
		}
	}
	properties, _ := document["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		document["properties"] = properties
	}
	for name, property := range f.Spec.Properties {
		if _, there := properties[name]; there && refers(&property) {
			continue
		}
		resolved, err := Resolved(&property, open)
		if err != nil {
			return nil, err
		}
		properties[name] = Relaxed(&resolved, values[name])
	}
	return json.Marshal(document)
}

// refers reports whether a schema or one below it has a $ref.
func refers(s *props) bool {
	found := false
	edit(s, func(s *props) { found = found || s.Ref != nil })
	return found
}
