package preview

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestWordsOfTheGatewayAPIAreTranslated(t *testing.T) {
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(`{spec: {route: {rules: [{}, {matches: [{path: {type: Exact, value: /a}, headers: [{name: x-b, value: "2"}]}]}]}}}`), &content))
	for field, want := range map[string]string{
		"spec.route.rules[1].matches[0].path.type":         ": in an AppService, write path: /a, and beside it pathType: Exact",
		"spec.route.rules[1].matches[0].path.value":        ": in an AppService, write path: /a, and beside it pathType: Exact",
		"spec.route.rules[1].matches[0].headers[0].name":   `: in an AppService, headers are a map: write headers: {x-b: "2"}`,
		"spec.route.rules[9].matches[9].path.type":         ": in an AppService, write path: /, and beside it pathType: PathPrefix",
		"spec.route.rules[0].filters":                      ": in an AppService, write a field for each filter: redirect, rewrite, requestHeaders, responseHeaders, cors, mirror",
		"spec.route.rules[0].rewrite.path.replaceFullPath": ": in an AppService, write path for the whole path, or prefix for what the rule matches",
		"spec.route.rules[0].filter":                       "",
		"spec.ingress.hosts[0].paths[0].path.type":         "",
	} {
		assert.Equal(t, want, gatewayHint(content, field), field)
	}
}
