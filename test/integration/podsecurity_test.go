//go:build cluster

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// withProxy is an AppService with a sidecar that needs more than Baseline allows.
func withProxy(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy:1", SecurityContext: &corev1.SecurityContext{
		Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}},
	}}}
	return app
}

// proxyRuns returns an error unless the sidecar of a Deployment has what it needs.
func proxyRuns(t *testing.T, app *v1.AppService) error {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), deployment); err != nil {
		return err
	}
	for _, container := range deployment.Spec.Template.Spec.InitContainers {
		if container.Name == "proxy" && slices.Contains(container.SecurityContext.Capabilities.Add, "NET_ADMIN") {
			return nil
		}
	}
	return fmt.Errorf("the Deployment has no sidecar with NET_ADMIN")
}

// refusedByDefault waits until the pods are refused because nothing allows them, and checks that the status says who may.
func refusedByDefault(t *testing.T, app *v1.AppService) {
	t.Helper()
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPodSecurityViolation)
	for _, part := range []string{`"baseline"`, "the operator requires by default", "NET_ADMIN", `"proxy"`} {
		if !strings.Contains(condition.Message, part) {
			t.Errorf("the message lacks %q: %s", part, condition.Message)
		}
	}
	named := func(p v1.Problem) bool {
		return p.Reason == v1.ReasonPodSecurityViolation && strings.Contains(p.Hint, api.EnforceLevelLabel+": privileged")
	}
	if !slices.ContainsFunc(app.Status.Problems, named) {
		t.Errorf("no problem names the label: %+v", app.Status.Problems)
	}
}

// TestPodsMayDoWhatTheAdministratorOfTheNamespaceAllows: the label privileged is a decision, no label is none.
func TestPodsMayDoWhatTheAdministratorOfTheNamespaceAllows(t *testing.T) {
	t.Parallel()
	t.Run("a namespace without the label", func(t *testing.T) {
		t.Parallel()
		namespace, _ := cluster.ManagedNamespace(t)
		app := withProxy(namespace)
		cluster.Create(t, app)
		refusedByDefault(t, app)
		assert.NoError(t, records(t, app, 0))
		enforce(t, namespace, "privileged")
		cluster.Ready(t, app)
		assert.NoError(t, proxyRuns(t, app))
	})
	t.Run("a namespace that loses the label", func(t *testing.T) {
		t.Parallel()
		namespace := cluster.Namespace(t)
		enforce(t, namespace, "privileged")
		manager := cluster.Manager(t, namespace)
		app := withProxy(namespace)
		cluster.CreateReady(t, app)
		require.NoError(t, proxyRuns(t, app))
		before := deployment(t, app)
		unlabel := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:null}}}`, api.EnforceLevelLabel))
		cluster.Patch(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, unlabel)
		refusedByDefault(t, app)
		manager.Rest(t)
		after := deployment(t, app)
		if after.Generation != before.Generation || after.UID != before.UID || after.Status.AvailableReplicas != *before.Spec.Replicas {
			t.Errorf("what ran was touched: generation %d, before %d, %d of %d pods available",
				after.Generation, before.Generation, after.Status.AvailableReplicas, *before.Spec.Replicas)
		}
		cluster.Delete(t, after, client.PropagationPolicy(metav1.DeletePropagationBackground))
		harness.Eventually(t, "what runs is kept alive as it was recorded", func() error { return proxyRuns(t, app) })
		enforce(t, namespace, "privileged")
		cluster.Ready(t, app)
	})
}
