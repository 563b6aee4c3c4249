package apifields

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const document = `{components: {schemas: {
com.example.v1.Part: {x-kubernetes-group-version-kind: [{group: example.com, kind: Part, version: v1}], type: object, properties: {
  apiVersion: {type: string}, kind: {type: string},
  metadata: {allOf: [{$ref: "#/components/schemas/io.k8s.ObjectMeta"}]},
  spec: {type: object, properties: {
    rules: {type: array, items: {type: object, properties: {port: {type: integer}}}},
    options: {type: object, additionalProperties: {type: object, properties: {size: {type: integer}}}},
    labels: {type: object, additionalProperties: {type: string}},
    any: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}},
    free: {type: object, additionalProperties: true}}}}},
io.k8s.DeleteOptions: {x-kubernetes-group-version-kind: [{kind: DeleteOptions, version: v1}, {group: example.com, kind: DeleteOptions, version: v1}]}}}}`

func TestFieldsThatAKindDoesNotHave(t *testing.T) {
	text, err := yaml.YAMLToJSON([]byte(document))
	require.NoError(t, err)
	kinds, err := Parse(text)
	require.NoError(t, err)
	assert.Len(t, kinds, 1)
	for object, want := range map[string]string{
		"{apiVersion: example.com/v1, kind: Part, metadata: {name: a, anything: b}, spec: {rules: [{port: 1}]}}": "",
		"{spec: {rules: [{port: 1}, {port: 2, retry: {attempts: 1}}]}}":                                          "spec.rules[1].retry",
		"{spec: {more: 1, rules: [{retry: 1}]}}":                                                                 "spec.more",
		"{spec: {options: {a: {size: 1}, b: {weight: 2}}}}":                                                      "spec.options.b.weight",
		"{spec: {labels: {a: b}, any: {b: {c: d}}, free: {e: {f: 1}}}}":                                          "",
		"{status: {}}":          "status",
		"{spec: {rules: true}}": "", // of another type: the API server says so
	} {
		var value map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(object), &value))
		assert.Equal(t, want, kinds["Part"].Unknown(value), object)
	}
	assert.Empty(t, kinds["Other"].Unknown(map[string]any{"spec": 1}), "of a kind that is not described")
	_, err = Parse([]byte("no JSON"))
	assert.Error(t, err)
}
