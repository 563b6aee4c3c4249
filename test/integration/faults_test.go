package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// What the Go types of built-in kinds refuse is found when it is rendered; of other kinds only the API server knows the fields.
func TestAnObjectThatIsMalformedIsTheFaultOfTheChart(t *testing.T) {
	const route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: {{ .Release.Name }}-extra}\nspec: "
	cases := map[string]struct{ spec, says string }{
		"a field that the kind does not have": {"{hostname: a.example.com}", ".spec.hostname: field not declared in schema"},
		"a field of another type":             {"{hostnames: a.example.com}", ".spec.hostnames: expected list"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
				options.ChartDir = chartWith(t, "templates/extra.yaml", route+test.spec)
			})
			app := harness.Seed(namespace, "web")
			cluster.Create(t, app)
			harness.Eventually(t, "the chart is blamed", func() error {
				if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
					return err
				}
				ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
				if ready == nil || len(app.Status.Problems) != 1 {
					return want("problems", len(app.Status.Problems), 1)
				}
				begins := "a mistake in chart appservice "
				says := `templates/extra.yaml: HTTPRoute "web-extra" is not valid: ` + test.says
				return want(ready.Message, strings.HasPrefix(ready.Message, begins) && strings.Contains(ready.Message, says) &&
					ready.Reason == v1.ReasonInstallFailed && strings.Contains(app.Status.Problems[0].Hint, "maintainers"), true)
			})
		})
	}
}
