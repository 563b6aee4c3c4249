package fields

import (
	"testing"

	"github.com/stretchr/testify/assert"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestADefaultFitsTheSchemaOfValues(t *testing.T) {
	account := &props{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"account": {Type: "object", Description: "An account.", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"name": {Type: "string", Description: "Its name."},
		}},
	}}
	cases := map[string]struct {
		defaults map[string]any
		want     any // the type of the field
	}{
		"a field without a default":       {map[string]any{}, "object"},
		"a default that is empty":         {map[string]any{"account": map[string]any{}}, "object"},
		"a default that is less than {}":  {map[string]any{"account": nil}, []any{"object", "null"}},
		"a default of null within a map":  {map[string]any{"account": map[string]any{"name": nil}}, "object"},
		"a null that is of another field": {map[string]any{"other": nil}, "object"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			properties := Relaxed(account, test.defaults)["properties"].(map[string]any)
			assert.Equal(t, test.want, properties["account"].(map[string]any)["type"])
		})
	}
}
