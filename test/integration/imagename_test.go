//go:build cluster

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The policy knows registries: a name that is none is refused before it, and the running release stays.
func TestAnImageNameIsCheckedBeforeThePolicy(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	before := &appsv1.Deployment{}
	get(t, app, before)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "registry.example.com/Team/shop:1.0.1" })
	refused := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImageNameInvalid)
	assert.Contains(t, refused.Message, `spec.image: "registry.example.com/Team/shop:1.0.1" is not a valid image name: repository name (Team/shop) must be lowercase`)
	get(t, app, app)
	assert.Equal(t, "correct spec.image: REGISTRY/REPOSITORY:TAG without https://, with a repository in lower case", app.Status.Problems[0].Hint)
	after := &appsv1.Deployment{}
	get(t, app, after)
	assert.Equal(t, before.Generation, after.Generation)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "registry.example.com/team/shop:1.0.1" })
	cluster.Ready(t, app)
}
