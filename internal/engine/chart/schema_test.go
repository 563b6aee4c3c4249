package chart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASchemaReadsNothingButItsText(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for name, test := range map[string]struct {
		schema  string
		outside []string
		takes   []map[string]any
		refuses []map[string]any
	}{
		"no reference": {
			`{"properties":{"a":{"type":"string"}}}`, nil, []map[string]any{{"a": "x"}}, []map[string]any{{"a": 1}}},
		"references to its text": {
			`{"$defs":{"b":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/b"}}}`, nil,
			[]map[string]any{{"a": "x"}}, []map[string]any{{"a": 1}}},
		"references to its text by its address": {
			`{"$id":"https://example.com/v.json","$defs":{"b":{"type":"string"}},"properties":{"a":{"$ref":"https://example.com/v.json#/$defs/b"}}}`, nil,
			[]map[string]any{{"a": "x"}}, []map[string]any{{"a": 1}}},
		"a schema within, by its address": {
			`{"$id":"https://example.com/v.json","$defs":{"b":{"$id":"b.json","type":"string"}},"properties":{"a":{"$ref":"b.json"}}}`, nil,
			[]map[string]any{{"a": "x"}}, []map[string]any{{"a": 1}}},
		"the network": {
			`{"properties":{"a":{"$ref":"https://example.com/a.json#/$defs/b"},"c":{"type":"string"}}}`, []string{"https://example.com/a.json#/$defs/b"},
			[]map[string]any{{"a": 1, "c": "x"}}, []map[string]any{{"c": 1}}},
		"two parts of one file": {
			`{"properties":{"a":{"$ref":"https://example.com/a.json#/b"},"c":{"$ref":"https://example.com/a.json#d"}},"required":["a"]}`,
			[]string{"https://example.com/a.json#/b", "https://example.com/a.json#d"}, []map[string]any{{"a": 1}}, []map[string]any{{}}},
		"the disk": {
			`{"properties":{"a":{"$ref":"file:///etc/hostname"},"c":{"type":"string"}}}`, []string{"file:///etc/hostname"},
			[]map[string]any{{"a": 1}}, []map[string]any{{"c": 1}}},
		"a file beside it": {
			`{"allOf":[{"$ref":"other.json"},{"required":["a"]}]}`, []string{"other.json"}, []map[string]any{{"a": 1}}, []map[string]any{{}}},
		"a file beside the address that it has": {
			`{"$id":"https://example.com/charts/v.json","properties":{"a":{"$ref":"other.json#/b"},"c":{"type":"string"}}}`, []string{"other.json#/b"},
			[]map[string]any{{"a": 1}}, []map[string]any{{"c": 1}}},
		"an id that is no address in its draft": {
			`{"id":"https://example.com/charts/v.json","properties":{"a":{"$ref":"other.json"},"c":{"type":"string"}}}`, []string{"other.json"},
			[]map[string]any{{"a": 1}}, []map[string]any{{"c": 1}}},
		"an urn": {
			`{"properties":{"a":{"$ref":"urn:example:b"},"c":{"type":"string"}}}`, []string{"urn:example:b"}, []map[string]any{{"a": 1}}, []map[string]any{{"c": 1}}},
		"what is beside a reference counts": {
			`{"properties":{"a":{"$ref":"https://example.com/a.json","type":"string"}}}`, []string{"https://example.com/a.json"},
			[]map[string]any{{"a": "x"}}, []map[string]any{{"a": 1}}},
		"what is beside a reference of an old draft does not": {
			`{` + draft7 + `"properties":{"a":{"$ref":"https://example.com/a.json","type":"string"},"c":{"type":"string"}}}`, []string{"https://example.com/a.json"},
			[]map[string]any{{"a": 1}}, []map[string]any{{"c": 1}}},
		"an old draft that refers from its root": {
			`{` + draft7 + `"$ref":"https://example.com/a.json","required":["a"],"definitions":{"b":{"type":"string"}}}`, []string{"https://example.com/a.json"},
			[]map[string]any{{}}, nil},
		"a dynamic reference": {
			`{"properties":{"a":{"$dynamicRef":"https://example.com/a.json#b"},"c":{"type":"string"}}}`, []string{"https://example.com/a.json#b"},
			[]map[string]any{{"a": 1}}, []map[string]any{{"c": 1}}},
		"a dialect of its own": {
			`{"$schema":"https://example.com/dialect","properties":{"c":{"type":"string"}}}`, []string{"https://example.com/dialect"},
			[]map[string]any{{}}, []map[string]any{{"c": 1}}},
		"a schema of schemas, which is built in": {
			`{"properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, nil,
			[]map[string]any{{"a": map[string]any{"type": "string"}}}, []map[string]any{{"a": map[string]any{"type": 1}}}},
		"a definition that nothing uses": {
			`{"$defs":{"b":{"$ref":"https://example.com/a.json"}},"properties":{"c":{"type":"string"}}}`, nil,
			[]map[string]any{{}}, []map[string]any{{"c": 1}}},
		"a value that looks like a reference": {
			`{"properties":{"$ref":{"const":{"$ref":"https://example.com/a.json"}},"b":{"$ref":"https://example.com/a.json"}}}`, []string{"https://example.com/a.json"},
			[]map[string]any{{"$ref": map[string]any{"$ref": "https://example.com/a.json"}, "b": 1}}, []map[string]any{{"$ref": map[string]any{}}}},
		"a field that is called like a keyword": {
			`{"properties":{"enum":{"$ref":"https://example.com/a.json"},"c":{"type":"string"}}}`, []string{"https://example.com/a.json"},
			[]map[string]any{{"enum": 1}}, []map[string]any{{"c": 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			schema, outside, err := CompileSchema([]byte(test.schema))
			require.NoError(t, err)
			require.Equal(t, test.outside, outside)
			for _, values := range test.takes {
				require.NoError(t, schema.Validate(values))
			}
			for _, values := range test.refuses {
				require.Error(t, schema.Validate(values))
			}
		})
	}
}

func TestASchemaReadsNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"string"}`), 0o600))
	schema, outside, err := CompileSchema([]byte(`{"properties":{"a":{"$ref":"file://` + filepath.ToSlash(file) + `"}}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"file://" + filepath.ToSlash(file)}, outside)
	require.NoError(t, schema.Validate(map[string]any{"a": 1}))
}
