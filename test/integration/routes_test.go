//go:build cluster

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// The addresses of a route are those of the listeners of a Gateway that another user owns in another namespace. A Gateway is read when its
// listeners change, and never because a controller writes to its status.
func TestARouteHasTheAddressesOfItsGateway(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	cluster.Install(t, gatewayCRD())
	namespace, infra := cluster.Namespace(t), cluster.Namespace(t)
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{namespace, infra}
	})
	host := namespace + ".example.com"
	app := withHost(namespace, "web", "", "")
	app.Spec.Route = &v1.Route{ParentRefs: []v1.RouteParent{{Name: "edge", Namespace: infra}}, Hostnames: []string{host}}
	cluster.Create(t, app)
	hasURL(t, app, "http://web."+namespace+".svc")

	edge := newGateway(infra, "edge", listener("http", "HTTP", 80))
	cluster.Create(t, edge)
	hasURL(t, app, "http://"+host)
	changeGateway(t, edge, listener("http", "HTTP", 80), listener("https", "HTTPS", 8443))
	hasURL(t, app, "https://"+host+":8443")
	if got := readsOf(manager, 0, edge); got != 2 {
		t.Errorf("the Gateway was read %d times, want once for each change of its listeners", got)
	}

	manager.Rest(t)
	mark := manager.Requests.Mark()
	require.NoError(t, unstructured.SetNestedSlice(edge.Object, []any{map[string]any{"name": "http", "attachedRoutes": int64(1)}}, "status", "listeners"))
	require.NoError(t, cluster.Client.Status().Update(t.Context(), edge))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Route.Hostnames = []string{"other-" + host} })
	hasURL(t, app, "https://other-"+host+":8443")
	if got := readsOf(manager, mark, edge); got != 0 {
		t.Errorf("the Gateway was read %d times although its listeners are as they were", got)
	}

	cluster.Delete(t, edge)
	hasURL(t, app, "http://web."+namespace+".svc")
}

func hasURL(t *testing.T, app *v1.AppService, url string) {
	t.Helper()
	cluster.Becomes(t, app.Name+" has the URL "+url, app, func() error { return want("URL", app.Status.URL, url) })
}

// readsOf counts how often an operator has read a Gateway since a mark.
func readsOf(manager *harness.Manager, mark int, object client.Object) int {
	path := fmt.Sprintf("/namespaces/%s/gateways/%s", object.GetNamespace(), object.GetName())
	count := 0
	for _, request := range manager.Requests.Since(mark) {
		if request.Verb == "get" && strings.HasSuffix(request.Path, path) {
			count++
		}
	}
	return count
}

func listener(name, protocol string, port int64) map[string]any {
	return map[string]any{
		"name": name, "protocol": protocol, "port": port,
		"allowedRoutes": map[string]any{"namespaces": map[string]any{"from": "All"}},
	}
}

func newGateway(namespace, name string, listeners ...any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"listeners": listeners}}}
	out.SetGroupVersionKind(gateway.Kind)
	out.SetNamespace(namespace)
	out.SetName(name)
	return out
}

func changeGateway(t *testing.T, edge *unstructured.Unstructured, listeners ...any) {
	t.Helper()
	require.NoError(t, unstructured.SetNestedSlice(edge.Object, listeners, "spec", "listeners"))
	require.NoError(t, cluster.Client.Update(context.WithoutCancel(t.Context()), edge))
}

// gatewayCRD serves Gateways of any content, with a status subresource.
func gatewayCRD() *apiextensionsv1.CustomResourceDefinition {
	return harness.WithStatus(gatewayAPICRD(gateway.Kind, "gateways"))
}

// gatewayAPICRD is the CRD of a kind of the Gateway API that may have any content. The API server asks for the annotation in groups of Kubernetes.
func gatewayAPICRD(kind schema.GroupVersionKind, plural string) *apiextensionsv1.CustomResourceDefinition {
	crd := harness.AnyCRD(kind, plural)
	crd.Annotations = map[string]string{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/3328"}
	return crd
}
