package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// policyOf writes a policy into a file of its own.
func policyOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	writePolicy(t, path, text)
	return path
}

func writePolicy(t *testing.T, path, text string) {
	t.Helper()
	files.Write(t, path, text)
}

// sharedHosts lists shared.N.NAMESPACE.example.com.
func sharedHosts(namespace string, count int) string {
	var list []string
	for i := range count {
		list = append(list, fmt.Sprintf("shared.%d.%s.example.com", i, namespace))
	}
	return strings.Join(list, ", ")
}

// twoNamespaces starts an operator that serves two namespaces.
func twoNamespaces(t *testing.T, policy string) (one, two string, start func() *harness.Manager) {
	t.Helper()
	one, two = cluster.Namespace(t), cluster.Namespace(t)
	return one, two, func() *harness.Manager {
		return cluster.Manager(t, one, func(options *operator.Options, _ *harness.Requests) {
			options.WatchNamespaces, options.Policy = []string{one, two}, policy
		})
	}
}

// sized is an AppService with a host and a number of pods.
func sized(namespace, name, host string, size int32) *v1.AppService {
	app := withHost(namespace, name, host, "/")
	app.Spec.Size = ptr.To(size)
	return app
}

// A host of an AppService that never ran goes to one that is ready, also if that one is paused; one that ran once keeps it.
func TestAHostGoesToWhoIsReady(t *testing.T) {
	t.Parallel()
	one, two, start := twoNamespaces(t, "")
	manager := start()
	host := one + ".example.com"
	never := sized(one, "never", host, 0)
	cluster.Create(t, never)
	hasHost(t, never, host)
	cluster.Change(t, never, func(app *v1.AppService) { app.Spec.Paused = true })
	cluster.Condition(t, never, v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
	if !neverReady(t, never) {
		t.Error("who never had a pod was ready once")
	}

	ready := sized(two, "ready", "", 1)
	cluster.CreateReady(t, ready)
	if neverReady(t, ready) {
		t.Error("who is ready never was")
	}
	cluster.Change(t, ready, func(app *v1.AppService) { app.Spec.Ingress = ingressOf(host, "/login") })
	cluster.Ready(t, ready)
	hasHost(t, ready, host)
	cluster.Change(t, never, func(app *v1.AppService) { app.Spec.Paused, app.Spec.Size = false, ptr.To[int32](1) })
	cluster.Condition(t, never, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
	assert.NoError(t, gone(t, one, "never", &networkingv1.Ingress{}))

	cluster.Change(t, ready, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](0) })
	cluster.Ready(t, ready)
	manager.Rest(t)
	manager.Stop(t)
	start().Rest(t)
	hasHost(t, ready, host)
	if err := gone(t, one, "never", &networkingv1.Ingress{}); err != nil {
		t.Error("an outage cost it the host:", err)
	}
}

func neverReady(t *testing.T, app *v1.AppService) bool {
	t.Helper()
	cluster.Refresh(t, app)
	return app.Status.NeverReady
}

// A grant of the policy takes precedence over the present owner of a host, as soon as the file has it; an AppService that lost the host gets it
// back when the grant is removed.
func TestAGrantGoesBeforeWhoServes(t *testing.T) {
	t.Parallel()
	policy := policyOf(t, "default: {}")
	one, two, start := twoNamespaces(t, policy)
	manager := start()
	host := one + ".example.com"
	serving, waiting := sized(one, "serving", host, 1), sized(two, "waiting", host, 0)
	cluster.CreateReady(t, serving)
	cluster.Create(t, waiting)
	cluster.Condition(t, waiting, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)

	writePolicy(t, policy, fmt.Sprintf("namespaces: [{names: [%s], hosts: ['+', %s]}]", two, host))
	cluster.Ready(t, waiting)
	hasHost(t, waiting, host)
	refused := cluster.Condition(t, serving, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	if !strings.Contains(refused.Message, "granted to others") {
		t.Errorf("message: %s", refused.Message)
	}
	assert.NoError(t, gone(t, one, "serving", &networkingv1.Ingress{}))

	writePolicy(t, policy, "default: {}")
	cluster.Ready(t, serving)
	hasHost(t, serving, host)
	cluster.Condition(t, waiting, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
	manager.Rest(t)
}

// What the policy does not allow is held back, and everything else continues.
func TestHostsThatThePolicyDoesNotAllow(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	policy := policyOf(t, "default: {}")
	namespace, manager := cluster.ManagedNamespace(t, func(options *operator.Options, _ *harness.Requests) { options.Policy = policy })
	all := withHost(namespace, "all", "", "")
	all.Spec.Route = &v1.Route{ParentRefs: []v1.RouteParent{{Name: "public", Namespace: "infra"}}}
	wildcard, other := withHost(namespace, "wildcard", "*."+namespace+".example.com", "/"), withHost(namespace, "other", namespace+".example.org", "/")
	writePolicy(t, policy, "default: {hosts: ['*.example.com']}")
	for app, words := range map[*v1.AppService]string{
		all:      "any host of Gateway infra/public: wildcardHosts allows neither wildcards nor all hosts (built-in default)",
		wildcard: "*." + namespace + ".example.com: wildcardHosts allows neither",
		other:    namespace + ".example.org: hosts allows *.example.com",
	} {
		cluster.Create(t, app)
		condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
		if !strings.Contains(condition.Message, words) {
			t.Errorf("got %s, want %s", condition.Message, words)
		}
		deployment(t, app)
	}
	writePolicy(t, policy, "default: {wildcardHosts: true}")
	for _, app := range []*v1.AppService{all, wildcard, other} {
		cluster.Ready(t, app)
	}
	manager.Rest(t)
}
