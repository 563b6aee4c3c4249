package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// A change that only restarts pods does not wait in the line of rollouts; one that takes something out of them does.
func TestWhatOnlyRestartsPods(t *testing.T) {
	const live = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {app.example.com/rendered: one}}, spec: {template: {metadata: {
		annotations: {app.example.com/restarted-at: one}}, spec: {restartPolicy: Always, containers: [{name: app, image: a, env: [{name: A, value: b}]}]}}}}`
	for name, test := range map[string]struct {
		old, new string
		want     bool
	}{
		"a request":                  {"restarted-at: one", "restarted-at: two", true},
		"a request is taken back":    {"annotations: {app.example.com/restarted-at: one}", "annotations: {}", true},
		"a variable is taken out":    {", env: [{name: A, value: b}]", "", false},
		"a variable changes":         {"value: b", "value: c", false},
		"what the API server writes": {"restartPolicy: Always, ", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			desired := object(t, strings.Replace(strings.Replace(live, "rendered: one", "rendered: two", 1), test.old, test.new, 1))
			plan := Compare([]*unstructured.Unstructured{desired}, map[kube.Key]client.Object{kube.KeyOf(desired): object(t, live)})
			assert.Len(t, plan.Apply, 1)
			assert.Equal(t, test.want, plan.OnlyRestarts())
		})
	}
}
