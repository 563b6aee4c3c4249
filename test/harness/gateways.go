package harness

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NobodysGateway is the name of a Gateway that no controller serves. All others accept every route.
const NobodysGateway = "nobody"

// gatewayAPI is the group of routes and Gateways, with its version.
const gatewayAPI = "gateway.networking.k8s.io/v1"

// gatewayKinds are the kinds that serveGateways accepts.
var gatewayKinds = []string{"HTTPRoute", "GRPCRoute", "ListenerSet"}

// serveGateways accepts routes of a kind, or ListenerSets, until the context ends, as a controller of the Gateway API does. The kind has to be
// served.
func (c *Cluster) serveGateways(ctx context.Context, kind string) error {
	return follow(ctx, c, ofKind(gatewayAPI, kind), func(ctx context.Context, object *unstructured.Unstructured) {
		if kind == "ListenerSet" {
			c.add(ctx, object)
			return
		}
		c.attach(ctx, object)
		c.accept(ctx, object)
	})
}

// add writes the status of a ListenerSet: its Gateway takes all of its listeners.
func (c *Cluster) add(ctx context.Context, set *unstructured.Unstructured) {
	gateway, _, _ := unstructured.NestedString(set.Object, "spec", "parentRef", "name")
	said, _, _ := unstructured.NestedSlice(set.Object, "status", "conditions")
	if gateway == NobodysGateway || len(said) > 0 && said[0].(map[string]any)["observedGeneration"] == set.GetGeneration() {
		return
	}
	conditions := []any{condition(set, "Accepted", "Accepted"), condition(set, "Programmed", "Programmed")}
	after := set.DeepCopy()
	_ = unstructured.SetNestedSlice(after.Object, conditions, "status", "conditions")
	_ = c.Client.Status().Patch(ctx, after, client.MergeFrom(set)) // a deleted one needs none
}

// condition is one that is true of the present generation of an object.
func condition(of *unstructured.Unstructured, kind, reason string) map[string]any {
	return map[string]any{
		"type": kind, "status": "True", "reason": reason, "message": "", "observedGeneration": of.GetGeneration(),
		"lastTransitionTime": of.GetCreationTimestamp().UTC().Format("2006-01-02T15:04:05Z"),
	}
}

// attach creates the Gateways of its own namespace that a route names, if their kind is served.
func (c *Cluster) attach(ctx context.Context, route *unstructured.Unstructured) {
	refs, _, _ := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
	for _, ref := range refs {
		ref, ok := ref.(map[string]any)
		if !ok || ref["namespace"] != nil || ref["name"] == NobodysGateway || ref["kind"] == "ListenerSet" {
			continue
		}
		gateway := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gatewayAPI, "kind": "Gateway",
			"metadata": map[string]any{"namespace": route.GetNamespace(), "name": ref["name"]},
			"spec": map[string]any{
				"gatewayClassName": "example", "listeners": []any{map[string]any{"name": "http", "port": int64(80), "protocol": "HTTP"}},
			},
		}}
		_ = c.Client.Create(ctx, gateway) // it exists already, or its kind is not served
	}
}

// attachAll does so for all routes, once the kind of Gateways is served.
func (c *Cluster) attachAll(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(gatewayAPI)
	list.SetKind("HTTPRouteList")
	if err := c.Client.List(ctx, list); err != nil {
		return client.IgnoreNotFound(err)
	}
	for i := range list.Items {
		c.attach(ctx, &list.Items[i])
	}
	return nil
}

// accept writes the status of a route: each parent accepts its present generation.
func (c *Cluster) accept(ctx context.Context, route *unstructured.Unstructured) {
	said, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	if len(said) > 0 {
		first, _ := said[0].(map[string]any)
		conditions, _, _ := unstructured.NestedSlice(first, "conditions")
		if len(conditions) == 0 || conditions[0].(map[string]any)["observedGeneration"] == route.GetGeneration() {
			return
		}
	}
	refs, _, _ := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
	parents := []any{}
	for _, ref := range refs {
		ref, ok := ref.(map[string]any)
		if !ok || ref["name"] == NobodysGateway {
			continue
		}
		parents = append(parents, map[string]any{
			"parentRef": ref, "controllerName": "example.com/gateways",
			"conditions": []any{condition(route, "Accepted", "Accepted"), condition(route, "ResolvedRefs", "ResolvedRefs")},
		})
	}
	if len(parents) == 0 {
		return
	}
	after := route.DeepCopy()
	_ = unstructured.SetNestedSlice(after.Object, parents, "status", "parents")
	_ = c.Client.Status().Patch(ctx, after, client.MergeFrom(route)) // a deleted one needs none
}
