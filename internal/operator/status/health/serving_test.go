package health

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

func live(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

func TestAnAPIThatIsNotAvailableIsAWarning(t *testing.T) {
	const api = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.a}\nstatus: {conditions: [{type: Available, status: \""
	assert.Equal(t, State{}, Of(live(t, api+"True\"}]}"), Facts{}))
	state := Of(live(t, api+"False\", message: no endpoints}]}"), Facts{})
	assert.Equal(t, Warned, state.Verdict)
	assert.Equal(t, v1.ReasonResourceNotReady, state.Reason)
	assert.Contains(t, state.Message, "is not available (no endpoints)")
	assert.Equal(t, State{}, Of(live(t, "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.a}"), Facts{}))
}

func TestAWebhookWithoutPodsIsAWarning(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: {labels: {app: a}}}}\nstatus: {readyReplicas: "
	for name, test := range map[string]struct {
		kind, policy, service, ready string
		warned                       bool
	}{
		"no pod is ready":     {"Validating", "Fail", "a", "0", true},
		"of a mutating one":   {"Mutating", "Fail", "a", "0", true},
		"a pod is ready":      {"Validating", "Fail", "a", "1", false},
		"it may be ignored":   {"Validating", "Ignore", "a", "0", false},
		"a service of others": {"Validating", "Fail", "b", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			objects := map[kube.Key]client.Object{}
			for _, text := range []string{deployment + test.ready + "}", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: a}}"} {
				object := live(t, text)
				objects[kube.KeyOf(object)] = object
			}
			hook := live(t, "apiVersion: admissionregistration.k8s.io/v1\nkind: "+test.kind+"WebhookConfiguration\nmetadata: {name: a}\nwebhooks:\n"+
				"- {name: a.example.com, failurePolicy: "+test.policy+", clientConfig: {service: {name: "+test.service+", namespace: x}}, rules: [{resources: [pods]}]}\n")
			state := Of(hook, Facts{Live: objects})
			assert.Equal(t, test.warned, state.Verdict == Warned, state.Message)
			if test.warned {
				assert.Contains(t, state.Message, `failurePolicy Fail in a.example.com, and no pod of Service "a" is ready: meanwhile, writes of pods fail`)
			}
		})
	}
}
