package fields

import (
	"encoding/json"
	"fmt"
	"path"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// Complete lays what a chart in a folder declares under what its values.yaml and its values.schema.json say, as if it stood there: a field
// needs an entry in neither. The texts of the files stay as they are. Mistakes of fields.yaml come as Problems.
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

// schema adds to a values.schema.json the properties that it lacks, and those that it may have from an earlier fields.yaml. What refers to
// fields of a Go type is known in full only if the file was generated.
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
		if _, there := properties[name]; there && property.refers() {
			continue
		}
		resolved, err := property.Props(open)
		if err != nil {
			return nil, err
		}
		properties[name] = Relaxed(&resolved, values[name])
	}
	return json.Marshal(document)
}

// refers reports whether a schema or one within it is that of another field.
func (s *Schema) refers() bool {
	if s == nil {
		return false
	}
	for _, property := range s.Properties {
		if property.refers() {
			return true
		}
	}
	return s.Ref != "" || s.Items.refers() || s.AdditionalProperties.refers()
}
