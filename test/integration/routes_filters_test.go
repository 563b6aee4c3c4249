//go:build cluster

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// routed makes an AppService without pods, with a route for a host.
func routed(namespace, name string, change func(*v1.AppServiceSpec)) *v1.AppService {
	app := withHost(namespace, name, "", "")
	app.Spec.Route = &v1.Route{ParentRefs: []v1.RouteParent{{Name: "edge"}}, Hostnames: []string{name + "." + namespace + ".example.com"}}
	change(&app.Spec)
	return app
}

// liveRoute reads an object of the Gateway API.
func liveRoute(t *testing.T, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("gateway.networking.k8s.io/v1")
	object.SetKind(kind)
	require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object))
	return object
}

// filters lists the types of the filters of a rule.
func filters(route *unstructured.Unstructured, rule int) (types []string) {
	rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
	list, _, _ := unstructured.NestedSlice(rules[rule].(map[string]any), "filters")
	for _, filter := range list {
		types = append(types, fmt.Sprint(filter.(map[string]any)["type"]))
	}
	return types
}

// The API server has the CRDs of the Gateway API, with their rules: what a route says is accepted by them, and stays as it was written.
func TestRoutesDoWhatAnnotationsDid(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	whole := routed(namespace, "whole", func(spec *v1.AppServiceSpec) {
		spec.Route.Rules = []v1.RouteRule{
			{
				Matches: []v1.RouteMatch{{Path: "/api"}}, RequestTimeout: "10s", BackendRequestTimeout: "5s",
				Retry:           &v1.RouteRetry{Attempts: ptr.To[int32](2), Codes: []int32{503}, Backoff: "100ms"},
				Rewrite:         &v1.RouteRewrite{Hostname: "api.internal", Prefix: "/"},
				RequestHeaders:  &v1.RouteHeaders{Set: map[string]v1.RouteHeader{"x-a": "1"}, Add: map[string]v1.RouteHeader{"x-b": "2"}, Remove: []string{"x-c"}},
				ResponseHeaders: &v1.RouteHeaders{Remove: []string{"server"}},
				CORS:            &v1.RouteCORS{AllowOrigins: []string{"*"}, AllowMethods: []string{"GET"}, AllowCredentials: true, MaxAge: ptr.To[int32](60)},
				Mirror:          &v1.RouteMirror{Service: "audit", Port: 80, Percent: ptr.To[int32](5)},
				Backends:        []v1.RouteBackend{{Port: 80, Weight: ptr.To[int32](9)}, {Service: "next", Port: 80}},
			},
			{Matches: []v1.RouteMatch{{Path: "/old"}}, Redirect: &v1.RouteRedirect{Prefix: "/new", StatusCode: ptr.To[int32](301)}},
		}
	})
	safe := routed(namespace, "safe", func(spec *v1.AppServiceSpec) {
		spec.Route.RedirectHTTP, spec.Route.TLS = true, &v1.RouteTLS{ClusterIssuer: "letsencrypt"}
	})
	calls := routed(namespace, "calls", func(spec *v1.AppServiceSpec) { spec.Route.Kind = "GRPCRoute" })
	for _, app := range []*v1.AppService{whole, safe, calls} {
		cluster.CreateReady(t, app)
	}
	assert.Equal(t, []string{"RequestHeaderModifier", "ResponseHeaderModifier", "CORS", "RequestMirror", "URLRewrite"}, filters(liveRoute(t, "HTTPRoute", namespace, "whole"), 0))
	assert.Equal(t, []string{"RequestRedirect"}, filters(liveRoute(t, "HTTPRoute", namespace, "safe-redirect"), 0))
	liveRoute(t, "ListenerSet", namespace, "safe")
	liveRoute(t, "GRPCRoute", namespace, "calls")
	hasURL(t, safe, "https://"+safe.Spec.Route.Hostnames[0])

	manager.Rest(t) // defaults of the API server are no drift
	cluster.Change(t, safe, func(app *v1.AppService) { app.Spec.Route.RedirectHTTP, app.Spec.Route.TLS = false, nil })
	cluster.Ready(t, safe)
	hasURL(t, safe, "http://"+safe.Spec.Route.Hostnames[0])
	for kind, name := range map[string]string{"HTTPRoute": "safe-redirect", "ListenerSet": "safe"} {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion("gateway.networking.k8s.io/v1")
		object.SetKind(kind)
		assert.NoError(t, gone(t, namespace, name, object))
	}
}

// Listeners of its own for a host that another namespace serves would have a certificate issued for it.
func TestListenersWaitForTheirHosts(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	one, two := cluster.Namespace(t), cluster.Namespace(t)
	cluster.Manager(t, one, func(options *operator.Options, _ *harness.Requests) { options.WatchNamespaces = []string{one, two} })
	host := "shop." + one + ".example.com"
	secure := func(spec *v1.AppServiceSpec) {
		spec.Route.Hostnames, spec.Route.TLS = []string{host}, &v1.RouteTLS{ClusterIssuer: "letsencrypt"}
	}
	cluster.CreateReady(t, routed(one, "shop", secure))
	late := routed(two, "late", secure)
	cluster.Create(t, late)
	cluster.Condition(t, late, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
	set := &unstructured.Unstructured{}
	set.SetAPIVersion("gateway.networking.k8s.io/v1")
	set.SetKind("ListenerSet")
	assert.NoError(t, gone(t, two, "late", set))
}

// routeCRD is the CRD of HTTPRoutes of a version.
func routeCRD(t *testing.T, folder string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return files.CRD(t, filepath.Join(fixtures, "crds", folder, "gateway.networking.k8s.io_httproutes.yaml"))
}

// upgrade brings the CRD of HTTPRoutes to a version, also when the test has ended.
func upgrade(t *testing.T, to *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	require.NoError(t, cluster.InstallCRD(ctx, to.DeepCopy()))
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live := &apiextensionsv1.CustomResourceDefinition{}
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(to), live); err != nil {
			return err
		}
		live.Spec, live.Annotations = to.Spec, to.Annotations
		return cluster.Client.Update(ctx, live)
	}))
}

// A field that the cluster does not have yet is refused before anything is written, and is written once the cluster was upgraded.
func TestAFieldThatTheClusterIsTooOldFor(t *testing.T) {
	// It changes a CRD that others use, so no other test may run at the same time.
	newest := routeCRD(t, "")
	upgrade(t, routeCRD(t, "v1.4.1"))
	t.Cleanup(func() { upgrade(t, newest) })
	namespace := cluster.Namespace(t)
	cluster.Manager(t, "", func(options *operator.Options, _ *harness.Requests) { options.WatchNamespaces = nil })
	plain := routed(namespace, "plain", func(*v1.AppServiceSpec) {})
	cluster.CreateReady(t, plain)
	app := routed(namespace, "web", func(spec *v1.AppServiceSpec) {
		spec.Route.Rules = []v1.RouteRule{{}, {CORS: &v1.RouteCORS{AllowOrigins: []string{"*"}}}}
	})
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAPITooOld)
	const message = `HTTPRoute "web": spec.rules[1].filters[0].cors is not a field of this cluster's API gateway.networking.k8s.io v1.4.1`
	assert.Equal(t, message, condition.Message)
	assert.NoError(t, gone(t, namespace, app.Name, &appsv1.Deployment{}, &corev1.Service{}))
	if !slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return p.Reason == v1.ReasonAPITooOld && p.Hint != "" }) {
		t.Errorf("got problems %+v", app.Status.Problems)
	}

	upgrade(t, newest)
	cluster.Ready(t, app)
	assert.Equal(t, []string{"CORS"}, filters(liveRoute(t, "HTTPRoute", namespace, "web"), 1))
}
