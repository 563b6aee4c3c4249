//go:build cluster

package integration

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A variable refers only to those before it, and the API server decides about the position of later ones.
func TestPortStandsBeforeWhatRefersToIt(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports = nil
	app.Spec.Envs = []corev1.EnvVar{{Name: "URL", Value: "http://127.0.0.1:$(PORT)"}, {Name: "A", Value: "b"}}
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Ports = []v1.Port{{Port: 80}} })
	cluster.Ready(t, app)
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	var names []string
	for _, env := range deployment.Spec.Template.Spec.Containers[0].Env {
		names = append(names, env.Name)
	}
	if want := []string{"PORT", "URL", "A"}; !slices.Equal(names, want) {
		t.Errorf("got the variables %v, want %v", names, want)
	}
}
