package admission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Defaults of a namespace are written by users who may write its ConfigMap appservice-defaults, and no policy checks them.
func TestNamespacesSetNoReferences(t *testing.T) {
	text, err := os.ReadFile("../../watches.yaml")
	require.NoError(t, err)
	var served []struct {
		Kind              string
		NamespaceDefaults []string
	}
	require.NoError(t, yaml.Unmarshal(text, &served))
	require.NotEmpty(t, served)
	policies := Policies()
	for _, entry := range served {
		if len(entry.NamespaceDefaults) == 0 {
			continue
		}
		spec := definition(t, entry.Kind).Properties["spec"]
		for _, field := range entry.NamespaceDefaults {
			property, found := spec.Properties[field]
			require.True(t, found, "%s has no field %s", entry.Kind, field)
			whole, err := json.Marshal(map[string]any{field: filled(property)})
			require.NoError(t, err)
			assert.Empty(t, Refusals(policies, Write{Kind: entry.Kind, Now: string(whole)}), "what namespaces may set by spec.%s of %s", field, entry.Kind)
		}
	}
	// A field that does refer to something is found in the same way.
	volumes, err := json.Marshal(map[string]any{"volumes": filled(definition(t, "AppService").Properties["spec"].Properties["volumes"])})
	require.NoError(t, err)
	assert.NotEmpty(t, Refusals(policies, Write{Kind: "AppService", Now: string(volumes)}))
}

func definition(t *testing.T, kind string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../config/crd/bases", "app.example.com_"+strings.ToLower(kind)+"s.yaml"))
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(text, crd))
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// filled returns a value in which all fields of a schema are set, each text to the same name.
func filled(schema apiextensionsv1.JSONSchemaProps) any {
	switch {
	case schema.Items != nil && schema.Items.Schema != nil:
		return []any{filled(*schema.Items.Schema)}
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return map[string]any{"key": filled(*schema.AdditionalProperties.Schema)}
	case len(schema.Properties) > 0:
		whole := map[string]any{}
		for name, property := range schema.Properties {
			whole[name] = filled(property)
		}
		return whole
	case schema.Type == "string":
		return "it"
	}
	return nil
}
