//go:build cluster

package integration

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// A field that the Go types of built-in kinds do not have is found when it is rendered; of other kinds only the API server knows the fields.
func TestAnObjectThatIsMalformedIsTheFaultOfTheChart(t *testing.T) {
	installParts(t)
	const part = "apiVersion: faults.example.org/v1\nkind: Part\nmetadata: {name: {{ .Release.Name }}-extra}\nspec: "
	cases := map[string]struct{ spec, says string }{
		"a field that the kind does not have": {"{color: red}", ".spec.color: field not declared in schema"},
		"a field of another type":             {"{names: a}", ".spec.names: expected list"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			cluster.Unbound().Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
				options.ChartDir = chartWith(t, "templates/extra.yaml", part+test.spec)
			})
			app := harness.Seed(namespace, "web")
			cluster.Create(t, app)
			cluster.Becomes(t, "the chart is blamed", app, func() error {
				ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
				if ready == nil || len(app.Status.Problems) != 1 {
					return want("problems", len(app.Status.Problems), 1)
				}
				begins := "a mistake in chart appservice "
				says := `templates/extra.yaml: Part "web-extra" is not valid: ` + test.says
				return want(ready.Message, strings.HasPrefix(ready.Message, begins) && strings.Contains(ready.Message, says) &&
					ready.Reason == v1.ReasonInstallFailed && strings.Contains(app.Status.Problems[0].Hint, "maintainers"), true)
			})
		})
	}
}

// installParts installs a kind with a list of names.
func installParts(t *testing.T) {
	t.Helper()
	names := apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"names": names}}
	crd := harness.AnyCRD(schema.GroupVersionKind{Group: "faults.example.org", Version: "v1", Kind: "Part"}, "parts")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
	}
	cluster.Install(t, crd)
}
