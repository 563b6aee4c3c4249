// Package hosts decides which resource serves a host and path that several ask for.
package hosts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
)

// queue is where requests to reconcile go.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Index finds AppServices by the hosts and paths that they claim.
const Index = "spec.hosts"

// Hosts sees to it that each host and path is served by one AppService of those that the manager watches: the oldest. It
// reads an index of the informer of AppServices, which is complete before the first reconcile.
type Hosts struct {
	Informer client.Reader
}

// ConflictError says that an older AppService claims a host and path.
type ConflictError struct {
	Claim string // host and path, as in www.example.com/shop
	// Holder is the name of the AppService; empty where it is in another namespace, which may be somebody else's business.
	Holder string
}

func (e *ConflictError) Error() string {
	holder := "an older AppService in another namespace"
	if e.Holder != "" {
		holder = fmt.Sprintf("AppService %q, which is older", e.Holder)
	}
	return fmt.Sprintf("%s is served by %s: choose another host or path", e.Claim, holder)
}

// Reason is that of Ready.
func (e *ConflictError) Reason() string { return v1.ReasonHostConflict }

// Check returns a ConflictError where an older AppService claims the same as a resource.
func (h *Hosts) Check(ctx context.Context, resource *unstructured.Unstructured) error {
	for _, claim := range Claims(resource) {
		rivals, err := h.claimants(ctx, claim)
		if err != nil {
			return err
		}
		for i := range rivals {
			rival := &rivals[i]
			if rival.GetUID() == resource.GetUID() || rival.GetDeletionTimestamp() != nil || !older(rival, resource) {
				continue
			}
			conflict := &ConflictError{Claim: claim}
			if rival.GetNamespace() == resource.GetNamespace() {
				conflict.Holder = rival.GetName()
			}
			return conflict
		}
	}
	return nil
}

func (h *Hosts) claimants(ctx context.Context, claim string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind + "List"))
	if err := h.Informer.List(ctx, list, client.MatchingFields{Index: claim}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot look for AppServices that serve %s: %w", claim, err)
	}
	return list.Items, nil
}

// older tells whether a was created before b; the name decides between two of one second.
func older(a, b metav1.Object) bool {
	created, other := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !created.Equal(&other) {
		return created.Before(&other)
	}
	return a.GetNamespace()+"/"+a.GetName() < b.GetNamespace()+"/"+b.GetName()
}

// Claims lists the hosts and paths of an AppService, each once.
func Claims(object client.Object) []string {
	resource, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	var list []string
	add := func(host, path string) {
		list = append(list, strings.ToLower(host)+"/"+strings.Trim(path, "/"))
	}
	var ingress v1.Ingress
	if section(resource, "ingress", &ingress) {
		for _, host := range ingress.Hosts {
			for _, path := range host.Paths {
				add(host.Host, path.Path)
			}
			if len(host.Paths) == 0 {
				add(host.Host, "")
			}
		}
	}
	var route v1.Route
	if section(resource, "route", &route) {
		for _, host := range route.Hostnames {
			for _, path := range routePaths(&route) {
				add(host, path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// routePaths lists the paths that a route matches whatever else the request is like.
func routePaths(route *v1.Route) []string {
	if len(route.Rules) == 0 {
		return []string{""}
	}
	var list []string
	for _, rule := range route.Rules {
		if len(rule.Matches) == 0 {
			list = append(list, "")
		}
		for _, match := range rule.Matches {
			if match.Method == "" && len(match.Headers) == 0 {
				list = append(list, match.Path)
			}
		}
	}
	return list
}

// section decodes a field of the spec and tells whether it is there.
func section(resource *unstructured.Unstructured, field string, into any) bool {
	content, found, _ := unstructured.NestedFieldNoCopy(resource.Object, "spec", field)
	fields, ok := content.(map[string]any)
	return found && ok && runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into) == nil
}

// Rivals has the AppServices looked at again that claim what another one began or ceased to claim.
func (h *Hosts) Rivals() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { h.enqueue(ctx, e.Object, Claims(e.Object), q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, after := Claims(e.ObjectOld), Claims(e.ObjectNew)
			if !slices.Equal(before, after) {
				h.enqueue(ctx, e.ObjectNew, append(before, after...), q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { h.enqueue(ctx, e.Object, Claims(e.Object), q) },
	}
}

func (h *Hosts) enqueue(ctx context.Context, by client.Object, changed []string, q queue) {
	for _, claim := range changed {
		rivals, err := h.claimants(ctx, claim)
		if err != nil {
			return // retries find out
		}
		for i := range rivals {
			if rivals[i].GetUID() != by.GetUID() {
				q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&rivals[i])})
			}
		}
	}
}
