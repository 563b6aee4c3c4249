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
	const mistake = `templates/extra.yaml (not in your spec): Part "web-extra" is not valid: .spec.names: expected list`
	cases := map[string]struct{ spec, reason, says string }{
		"a field that the kind does not have": {"{color: red}", v1.ReasonAPITooOld, `Part "web-extra": spec.color is not a field of this cluster's API faults.example.org`},
		"a field of another type":             {"{names: a}", v1.ReasonInstallFailed, mistake},
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
				blamed := test.reason == v1.ReasonAPITooOld || strings.HasPrefix(ready.Message, "bug in chart appservice ")
				return want(ready.Message, blamed && strings.Contains(ready.Message, test.says) && ready.Reason == test.reason &&
					strings.Contains(app.Status.Problems[0].Hint, "maintainers"), true)
			})
		})
	}
}

// installParts installs a kind with a list of names. A busy API server describes it up to a minute after it serves it.
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
