package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// writeValuesSchema writes the values.schema.json of a chart, whose values are the fields of a spec and further ones
// in values.yaml.
func writeValuesSchema(dir string, spec *props, values map[string]any) error {
	schema := fields.Relaxed(spec, values)
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "Values of the chart " + filepath.Base(dir) + ". Generated: see fields.yaml and make generate"
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		return fmt.Errorf("%s: the spec of its kind has no fields with descriptions", dir)
	}
	properties["global"] = map[string]any{"type": "object"}
	for name, value := range values {
		if _, known := properties[name]; !known {
			properties[name] = like(value)
		}
	}
	var out bytes.Buffer
	if err := pretty(&out, schema, ""); err != nil {
		return err
	}
	out.WriteByte('\n')
	return os.WriteFile(filepath.Join(dir, "values.schema.json"), out.Bytes(), 0o644)
}

// like is the schema of a value that only the chart itself has: any value of its type.
func like(value any) map[string]any {
	switch value.(type) {
	case bool:
		return map[string]any{"type": "boolean"}
	case int64:
		return map[string]any{"type": "integer"}
	case float64:
		return map[string]any{"type": "number"}
	case string:
		return map[string]any{"type": "string"}
	case []any:
		return map[string]any{"type": "array"}
	case map[string]any:
		return map[string]any{"type": "object"}
	}
	return map[string]any{}
}

// width is how long a line may be that holds a whole object, without its key.
const width = 100

// pretty prints JSON with objects that fit on a line on one: a schema is mostly objects of a few words.
func pretty(out *bytes.Buffer, value any, indent string) error {
	short, err := compact(value)
	if err != nil {
		return err
	}
	object, isObject := value.(map[string]any)
	if !isObject || len(indent)+len(short) <= width {
		out.WriteString(short)
		return nil
	}
	out.WriteString("{\n")
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		fmt.Fprintf(out, "%s  %q: ", indent, key)
		if err := pretty(out, object[key], indent+"  "); err != nil {
			return err
		}
	}
	out.WriteString("\n" + indent + "}")
	return nil
}

// compact is JSON on one line, with a blank behind each colon and comma outside of texts.
func compact(value any) (string, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\x00")
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	text := strings.TrimSpace(strings.ReplaceAll(raw.String(), "\x00", ""))
	text = strings.NewReplacer(",\n", ", ", "{\n", "{", "[\n", "[", "\n}", "}", "\n]", "]").Replace(text)
	return text, nil
}
