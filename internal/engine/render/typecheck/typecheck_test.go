package typecheck

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// policies are the only type of texts that takes few values here.
func policies(t reflect.Type) []string {
	if t == reflect.TypeFor[corev1.RestartPolicy]() {
		return []string{"Always", "OnFailure", "Never"}
	}
	return nil
}

func TestMisfits(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
	cases := map[string]struct{ text, want string }{
		"a sound one":                         {pod + "  restartPolicy: Never\n  terminationGracePeriodSeconds: 30\n  containers: [{name: app, ports: [{containerPort: 80}], env: [{name: A, value: b}]}]", ""},
		"an unknown field":                    {pod + "  restartPolicie: Never", "spec.restartPolicie: there is no such field: did you mean restartPolicy?"},
		"a field in other letters":            {pod + "  restartpolicy: Never", "spec.restartpolicy: there is no such field: did you mean restartPolicy?"},
		"a field like none":                   {pod + "  hue: blue", "spec.hue: there is no such field"},
		"a field of another level":            {"apiVersion: v1\nkind: Pod\nrestartPolicy: Never", "restartPolicy: there is no such field"},
		"a field in a list":                   {pod + "  containers: [{name: a}, {nam: b}]", "spec.containers[1].nam: there is no such field: did you mean name?"},
		"a value that is none of few":         {pod + "  restartPolicy: OnFailed", `spec.restartPolicy: "OnFailed" is none of Always, OnFailure, Never`},
		"a text for a number":                 {pod + "  terminationGracePeriodSeconds: '30'", "spec.terminationGracePeriodSeconds: must be a whole number, not a text: take the quotes away"},
		"a fraction for a whole number":       {pod + "  terminationGracePeriodSeconds: 1.5", "spec.terminationGracePeriodSeconds: must be a whole number, not a number"},
		"a whole number with a point":         {pod + "  terminationGracePeriodSeconds: 30.0", ""},
		"a number that is too large":          {pod + "  containers: [{ports: [{containerPort: 3000000000}]}]", "spec.containers[0].ports[0].containerPort: the number does not fit into 32 bits"},
		"a number for a text":                 {pod + "  containers: [{env: [{name: A, value: 5}]}]", "spec.containers[0].env[0].value: must be a string, not a number: quote it"},
		"a text for true or false":            {pod + "  hostNetwork: 'true'", "spec.hostNetwork: must be true or false, not a text: take the quotes away"},
		"a map for a list":                    {pod + "  containers: {name: a}", "spec.containers: must be a list, not a map"},
		"a list for a map":                    {pod + "  nodeSelector: [a]", "spec.nodeSelector: must be a map, not a list"},
		"a text for a section":                {pod + "  securityContext: none", "spec.securityContext: must be a map, not a text"},
		"a label that is not a string":        {"apiVersion: v1\nkind: Pod\nmetadata: {labels: {version: 5}}", "metadata.labels.version: must be a string, not a number: quote it"},
		"a quantity that is none":             {pod + "  containers: [{resources: {limits: {cpu: much}}}]", "spec.containers[0].resources.limits.cpu: not a valid quantity: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		"a quantity that is a number":         {pod + "  containers: [{resources: {limits: {cpu: 1}}}]", ""},
		"a port by its name":                  {pod + "  containers: [{readinessProbe: {httpGet: {port: web}}}]", ""},
		"nulls":                               {pod + "  restartPolicy: null\n  containers: null", ""},
		"several":                             {pod + "  a: 1\n  b: 2\n  c: 3\n  d: 4", "spec.a: there is no such field; spec.b: there is no such field; spec.c: there is no such field; and 1 more"},
		"a kind that is not built in":         {"apiVersion: example.com/v1\nkind: Part\nspec: {any: thing}", ""},
		"data that is not base64 by its sort": {"apiVersion: v1\nkind: Secret\ndata: {a: 5}", "data.a: must be a string in base64, not a number"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			data, err := yaml.YAMLToJSONStrict([]byte(test.text))
			if err == nil {
				err = utiljson.Unmarshal(data, &object.Object)
			}
			require.NoError(t, err)
			if got := Check(object, policies).Error(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
