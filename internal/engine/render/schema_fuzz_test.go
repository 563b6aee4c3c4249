package render

import (
	"os"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// FuzzSchema: whatever the values.schema.json of a chart and the values are, the schema is refused, or the values are accepted or refused,
// each time alike, and each mistake has its place and its words.
func FuzzSchema(f *testing.F) {
	shipped, err := os.ReadFile("../../../helm-charts/appservice/values.schema.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shipped, []byte(`{"image":"a","size":"two","ports":[{"port":"http"}]}`))
	for schema, values := range map[string]string{
		`{"properties":{"a":{"type":"integer","maximum":3}},"required":["b"]}`:                                               `{"a":4}`,
		`{"additionalProperties":false,"patternProperties":{"^(a+)+$":{"type":"string"}}}`:                                   `{"aaaaaaaaaaaaaaaaaaaaaaaaaaab":1}`,
		`{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"b":{"$ref":"#/$defs/a"}}}`:                                       `{"b":1}`,
		`{"anyOf":[{"const":{"a":1}},{"enum":[null]}],"not":{},"if":true,"then":false}`:                                      `{"a":1}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMaximum":true}`:                                      `{}`,
		`{"properties":{"a":{"format":"date-time","multipleOf":0.1,"uniqueItems":true}}}`:                                    `{"a":[1,1]}`,
		`{"properties":{"a":{"contentEncoding":"base64","dependentRequired":{"a":["b"]}}}}`:                                  `{"a":{"a":1}}`,
		`{"properties":{"a/~b":{"type":"string","pattern":"\\p{Lu}","maxLength":1}}}`:                                        `{"a/~b":"xx"}`,
		`{"unevaluatedProperties":false,"$dynamicRef":"#a","$dynamicAnchor":"a","items":[]}`:                                 `{"x":[]}`,
		`{"$id":"https://a/b","$schema":"https://a/c","properties":{"x":{"$ref":"d#/e"},"y":{"$ref":"file:///etc/passwd"}}}`: `{"x":1}`,
		`[]`: `{}`, `true`: `{}`, `7`: `{}`,
	} {
		f.Add([]byte(schema), []byte(values))
	}
	f.Fuzz(func(t *testing.T, text, data []byte) {
		var values map[string]any
		if utiljson.Unmarshal(data, &values) != nil {
			return
		}
		schema, _, err := appchart.CompileSchema(text)
		if err != nil {
			return
		}
		first, second := schema.Validate(values), schema.Validate(values)
		if (first == nil) != (second == nil) {
			t.Errorf("checked twice, it says %v, then %v", first, second)
		}
		c := of(nil).Chart
		c.Schema = text
		found, err := (&schemas{}).validate(c, values)
		if err != nil || (len(found) > 0) != (first != nil) {
			t.Errorf("got %v and %v, want what the schema says: %v", found, err, first)
		}
		for _, misfit := range found {
			if misfit.says == "" {
				t.Errorf("%v has no words", misfit.path)
			}
		}
	})
}
