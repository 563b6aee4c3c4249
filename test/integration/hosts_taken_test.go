//go:build cluster

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
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

// ingressOfOthers is an Ingress that the operator did not make; without a host it is for all of them.
func ingressOfOthers(namespace, name, host string) *networkingv1.Ingress {
	made := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	made.Spec.Rules = []networkingv1.IngressRule{{Host: host}}
	made.Spec.DefaultBackend = &networkingv1.IngressBackend{
		Service: &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: 80}},
	}
	return made
}

var grpcRouteKind = schema.GroupVersionKind{Group: gateway.Kind.Group, Version: "v1", Kind: "GRPCRoute"}

// grpcRouteOfOthers is a GRPCRoute that the operator did not make.
func grpcRouteOfOthers(namespace, name, host string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"parentRefs": []any{map[string]any{"name": "edge"}},
		"hostnames":  []any{host},
	}}}
	made.SetGroupVersionKind(grpcRouteKind)
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

// servesOnceFree creates an AppService for a host that a route of others serves. It is refused, and serves the host once that route is deleted.
func servesOnceFree(t *testing.T, namespace, host string, server client.Object) *v1.AppService {
	t.Helper()
	login := withHost(namespace, "login", host, "/login")
	cluster.Create(t, login)
	cluster.Condition(t, login, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
	assert.NoError(t, gone(t, namespace, "login", &networkingv1.Ingress{}))

	assert.NoError(t, cluster.Client.Delete(t.Context(), server))
	cluster.Ready(t, login)
	hasHost(t, login, host)
	return login
}

// A resource that serves a host keeps it, whoever made the route.
func TestAHostOfAnIngressOfOthersIsTheirs(t *testing.T) {
	t.Parallel()
	one, two, start := twoNamespaces(t, "")
	manager := start()
	host := one + ".example.com"
	server := ingressOfOthers(one, "server", host)
	cluster.Create(t, server)
	login := servesOnceFree(t, two, host, server)
	cluster.Create(t, ingressOfOthers(one, "thief", host))
	deleteIt(t, login, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: two, Name: "login"}})
	hasHost(t, login, host)
	manager.Stop(t)
	start().Rest(t)
	cluster.Ready(t, login)
	hasHost(t, login, host)
	if cluster.Refresh(t, login); toldOfAnother(login) {
		t.Errorf("a warning is reported to who has served it longest: %v", login.Status.Problems)
	}
}

// A GRPCRoute of another writer keeps its host too, if the cluster serves such routes.
func TestAHostOfAGRPCRouteIsNotTaken(t *testing.T) {
	t.Parallel()
	cluster.Install(t, gatewayAPICRD(grpcRouteKind, "grpcroutes"))
	one, two, start := twoNamespaces(t, "")
	host := one + ".example.com"
	server := grpcRouteOfOthers(one, "server", host)
	cluster.Create(t, server)
	start()
	servesOnceFree(t, two, host, server)
}

// An AppService that comes below a wildcard of others serves, and is warned until that wildcard goes.
func TestAHostBelowAWildcardOfOthersIsServedWithAWarning(t *testing.T) {
	t.Parallel()
	one, two, start := twoNamespaces(t, "")
	wildcard := ingressOfOthers(one, "all", "*."+one+".example.com")
	cluster.Create(t, wildcard)
	start()
	app := withHost(two, "shop", "shop."+one+".example.com", "/")
	cluster.CreateReady(t, app)
	told := func(want bool) {
		t.Helper()
		harness.Eventually(t, fmt.Sprintf("it is warned: %t", want), func() error {
			if cluster.Refresh(t, app); toldOfAnother(app) != want {
				return fmt.Errorf("its problems are %v", app.Status.Problems)
			}
			return nil
		})
	}
	told(true)
	cluster.Ready(t, app)
	require.NoError(t, cluster.Client.Delete(t.Context(), wildcard))
	told(false)
}

// toldOfAnother reports whether an AppService is warned that it serves a host beside another one.
func toldOfAnother(app *v1.AppService) bool {
	return slices.ContainsFunc(app.Status.Problems, func(problem v1.Problem) bool {
		return problem.Type == v1.ProblemWarning && problem.Reason == v1.ReasonHostConflict
	})
}

// An Ingress for all hosts takes none, also if it looks like the operator's, and if a finalizer keeps it from being deleted.
func TestARouteOfOthersForAllHostsTakesNone(t *testing.T) {
	t.Parallel()
	policy := policyOf(t, "default: {}")
	one, two, start := twoNamespaces(t, policy)
	manager := start()
	squat := withHost(one, "squat", "", "")
	cluster.CreateReady(t, squat)
	cluster.Change(t, squat, func(app *v1.AppService) { app.Spec.Paused = true })
	cluster.Condition(t, squat, v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
	forged := ingressOfOthers(one, "everything", "")
	forged.Labels = map[string]string{v1.LabelManaged: "true", v1.LabelOwner: string(squat.UID)}
	forged.Finalizers = []string{"example.com/hold"}
	forged.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(squat, v1.GroupVersion.WithKind(v1.Kind))}
	cluster.Create(t, forged)
	t.Cleanup(func() {
		forged.Finalizers = nil
		_ = cluster.Client.Patch(context.WithoutCancel(t.Context()), forged, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	})
	plain := withHost(one, "plain", one+".example.org", "/") // by then, the Ingress is known
	cluster.CreateReady(t, plain)

	first := withHost(two, "first", "first."+one+".example.com", "/")
	cluster.CreateReady(t, first)
	hasHost(t, first, "first."+one+".example.com")
	granted := "granted." + one + ".example.com"
	writePolicy(t, policy, fmt.Sprintf("namespaces: [{names: [%s], hosts: ['+', %s]}]", two, granted))
	second := withHost(two, "second", granted, "/")
	cluster.CreateReady(t, second)
	hasHost(t, second, granted)
	manager.Rest(t)
}

// A grant of the policy lets its namespace write a route beside a live one, which stays as it is.
func TestAGrantWritesBesideWhoServes(t *testing.T) {
	t.Parallel()
	policy := policyOf(t, "default: {}")
	one, two, start := twoNamespaces(t, policy)
	manager := start()
	host := one + ".example.com"
	serving, waiting := withHost(one, "serving", host, "/"), withHost(two, "waiting", host, "/")
	cluster.CreateReady(t, serving)
	cluster.Create(t, waiting)
	cluster.Condition(t, waiting, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)

	writePolicy(t, policy, fmt.Sprintf("namespaces: [{names: [%s], hosts: ['+', %s]}]", two, host))
	cluster.Ready(t, waiting)
	hasHost(t, waiting, host)
	refused := cluster.Condition(t, serving, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	if !strings.Contains(refused.Message, "granted to other namespaces") {
		t.Errorf("message: %s", refused.Message)
	}
	hasHost(t, serving, host)

	writePolicy(t, policy, "default: {}")
	cluster.Ready(t, serving)
	cluster.Ready(t, waiting)
	cluster.Becomes(t, "who came later is warned", waiting, func() error {
		return want("a warning", toldOfAnother(waiting), true)
	})
	manager.Rest(t)
}

// Hosts that the policy does not allow are held back, and everything else continues.
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
		all:      "any host of Gateway infra/public: wildcardHosts allows neither wildcards nor all hosts (built-in policy shared)",
		wildcard: "*." + namespace + ".example.com: wildcardHosts allows neither",
		other:    namespace + ".example.org: hosts allows *.example.com",
	} {
		cluster.Create(t, app)
		condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
		if told := fmt.Sprint(condition.Message, app.Status.Problems); !strings.Contains(told, words) {
			t.Errorf("got %s, want %s", told, words)
		}
		deployment(t, app)
	}
	writePolicy(t, policy, "default: {wildcardHosts: true}")
	for _, app := range []*v1.AppService{all, wildcard, other} {
		cluster.Ready(t, app)
	}
	manager.Rest(t)
}
