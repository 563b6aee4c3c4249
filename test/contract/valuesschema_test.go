//go:build cluster

package contract

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/specs"
)

// TestContractValuesSchema checks that the chart's values.schema.json knows the fields of the spec, and nothing else.
func TestContractValuesSchema(t *testing.T) {
	s := mustSurvey(t)
	schema, err := specs.ReadPlain(filepath.Join(chartDir, "values.schema.json"))
	require.NoError(t, err)
	for _, r := range s.fields {
		if refused := refusedBy(schema, r.path); refused != "" {
			t.Errorf("values.schema.json does not know %s of spec.%s: run make generate", refused, r.path)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range specs.SortedKeys(s.spec.Properties) {
		assert.NotNil(t, properties[name], "values.schema.json does not know spec.%s: run make generate", name)
	}
	for _, path := range propertiesOf("", schema) {
		_, exempt := s.exceptions.Values[path]
		if _, err := specs.At(s.spec, path); err != nil && !exempt && path != "global" {
			t.Errorf("values.schema.json knows %s, which is not a field of the spec: run make generate, or name the reason in exceptions.yaml", path)
		}
	}
}

// refusedBy returns the part of a path at which a closed object does not know the next name.
func refusedBy(schema map[string]any, path string) string {
	done := ""
	for _, segment := range strings.Split(path, ".") {
		name, isList := strings.CutSuffix(segment, "[]")
		done = specs.Join(done, segment)
		properties, _ := schema["properties"].(map[string]any)
		next, found := properties[name].(map[string]any)
		if !found {
			if closed, isBool := schema["additionalProperties"].(bool); isBool && !closed {
				return done
			}
			return ""
		}
		if isList {
			if next, found = next["items"].(map[string]any); !found {
				return ""
			}
		}
		schema = next
	}
	return ""
}

// propertiesOf lists the paths of all properties that a JSON schema names.
func propertiesOf(prefix string, schema map[string]any) []string {
	var paths []string
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range specs.SortedKeys(properties) {
		path := specs.Join(prefix, name)
		paths = append(paths, path)
		property, _ := properties[name].(map[string]any)
		paths = append(paths, propertiesOf(path, property)...)
		if items, ok := property["items"].(map[string]any); ok {
			paths = append(paths, propertiesOf(path+"[]", items)...)
		}
	}
	return paths
}
