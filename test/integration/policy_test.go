//go:build cluster

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// tolerated returns an error unless the pods of an AppService tolerate every taint, or do not.
func tolerated(t *testing.T, app *v1.AppService, want bool) error {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), deployment); err != nil {
		return err
	}
	if got := len(deployment.Spec.Template.Spec.Tolerations) > 0; got != want {
		return fmt.Errorf("pods tolerate every taint: %t, want %t", got, want)
	}
	return nil
}

// Changes of the file take effect: what it allows heals, what it no longer allows keeps running, and an invalid file changes nothing.
func TestThePolicyIsFollowed(t *testing.T) {
	t.Parallel()
	namespace, file := cluster.Namespace(t), filepath.Join(t.TempDir(), "policy.yaml")
	policy := func(text string) {
		t.Helper()
		files.Write(t, file, text)
	}
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.Policy = file })
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)

	manager.Rest(t)
	mark := manager.Requests.Mark()
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	if !strings.Contains(condition.Message, `Deployment "web": tolerations[0] of every taint: tolerations allows`) || !strings.Contains(condition.Message, "(built-in policy shared)") {
		t.Errorf("got message %s", condition.Message)
	}
	if writes := manager.Requests.WritesSince(mark); len(writes) != 1 {
		t.Errorf("got %v, want one status write", writes)
	}

	policy("namespaces: [{names: [" + namespace + "], tolerations: [\"+\", \"\"]}]")
	cluster.Ready(t, app)
	assert.NoError(t, tolerated(t, app, true))

	policy("namespaces: [{name: [" + namespace + "]}]") // a mistake: the policy in use stays
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)

	require.NoError(t, os.Remove(file)) // the policy in use stays, too
	manager.Rest(t)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
	cluster.Ready(t, app)

	policy("namespaces: [{names: [" + namespace + "-other], tolerations: [\"+\", \"\"]}]")
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	cluster.Delete(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
	harness.Eventually(t, "what ran is kept alive", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), &corev1.Service{}); err != nil {
			return err
		}
		return tolerated(t, app, true)
	})

	policy("builtIn: open")
	cluster.Ready(t, app)
	assert.Equal(t, "open", app.Status.Policy)
	policy("builtIn: shared")
	condition = cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	assert.Empty(t, app.Status.Policy)
	assert.Contains(t, condition.Message, "built-in policy shared")
	require.NotEmpty(t, app.Status.Problems)
	assert.Contains(t, app.Status.Problems[0].Hint, "- {names: ["+namespace+"], tolerations: [+, \"\"]}")
}

// The labels of a namespace decide which entries apply to it, whenever they change.
func TestThePolicyGoesByLabelsOfTheNamespace(t *testing.T) {
	t.Parallel()
	namespace, file := cluster.Namespace(t), filepath.Join(t.TempDir(), "policy.yaml")
	files.Write(t, file, `namespaces: [{selector: {matchLabels: {tier: trusted}}, tolerations: ["+", ""]}]`)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.Policy = file })
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	assert.NoError(t, records(t, app, 0))
	labeled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	cluster.Patch(t, labeled, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"tier":"trusted"}}}`)))
	cluster.Ready(t, app)
	assert.NoError(t, tolerated(t, app, true))
}
