// Package gateway reads objects of the Gateway API: routes, what controllers report on them, and the listeners of the
// Gateways that they attach to. It is pure: it reads no cluster. It has types of its own, because the API's come with a
// library for controllers.
package gateway

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Group is the API group.
const Group = "gateway.networking.k8s.io"

// Kind is the kind of Gateways, in the version that is read.
var Kind = schema.GroupVersionKind{Group: Group, Version: "v1", Kind: "Gateway"}

// IsRoute reports whether objects of a kind attach to Gateways: HTTPRoute, GRPCRoute, TCPRoute, TLSRoute, UDPRoute.
func IsRoute(kind schema.GroupKind) bool {
	return kind.Group == Group && strings.HasSuffix(kind.Kind, "Route")
}

// Route holds the parents of a route, and what controllers report on them.
type Route struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		ParentRefs []parentRef `json:"parentRefs"`
		Hostnames  []string    `json:"hostnames"`
		Rules      []struct {
			Matches []struct {
				Path struct {
					Type  string `json:"type"`
					Value string `json:"value"`
				} `json:"path"`
			} `json:"matches"`
		} `json:"rules"`
	} `json:"spec"`
	Status struct {
		Parents []struct {
			ParentRef  parentRef          `json:"parentRef"`
			Controller string             `json:"controllerName"`
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"parents"`
	} `json:"status"`
}

// parentRef is a parent as it is written: a missing field has a default, an empty group does not.
type parentRef struct {
	Group       *string `json:"group"`
	Kind        *string `json:"kind"`
	Namespace   string  `json:"namespace"`
	Name        string  `json:"name"`
	SectionName string  `json:"sectionName"`
	Port        int64   `json:"port"`
}

// RouteOf reads a route; nil if the object is none, or only its outline is known.
func RouteOf(object client.Object) *Route {
	if object == nil || !IsRoute(kube.KeyOf(object).GroupKind) {
		return nil
	}
	return kube.As[Route](object)
}

// Ref is a parent of a route: a Gateway as a rule, one of its listeners, or a Service in a mesh. Refs are compared with
// ==.
type Ref struct {
	Group, Kind string
	types.NamespacedName
	// SectionName and Port choose listeners; empty for all.
	SectionName string
	Port        int64
}

// IsGateway reports whether the parent is a Gateway.
func (r Ref) IsGateway() bool { return r.Group == Group && r.Kind == Kind.Kind }

// In returns how a parent is named within a namespace, for example listener https of Gateway infra/edge.
func (r Ref) In(namespace string) string {
	text := r.Kind + " " + r.Name
	if r.Namespace != namespace {
		text = r.Kind + " " + r.String()
	}
	if r.SectionName != "" {
		text = "listener " + r.SectionName + " of " + text
	}
	return text
}

// IsListenerSet reports whether the parent is a set of listeners that is added to a Gateway.
func (r Ref) IsListenerSet() bool { return r.Group == Group && r.Kind == ListenerSetKind.Kind }

func (r *Route) ref(written parentRef) Ref { return refFrom(written, r.Metadata.Namespace) }

// refFrom returns a parent that an object of a namespace names.
func refFrom(written parentRef, namespace string) Ref {
	return Ref{
		Group: ptr.Deref(written.Group, Group), Kind: ptr.Deref(written.Kind, Kind.Kind), SectionName: written.SectionName,
		Port:           written.Port,
		NamespacedName: types.NamespacedName{Namespace: cmp.Or(written.Namespace, namespace), Name: written.Name},
	}
}

// Parent is a parent of a route and what controllers report on it.
type Parent struct {
	Ref
	Entries []Entry
}

// Parents lists the parents in the spec, each with the reports on it.
func (r *Route) Parents() []Parent {
	list := make([]Parent, 0, len(r.Spec.ParentRefs))
	for _, written := range r.Spec.ParentRefs {
		parent := Parent{Ref: r.ref(written)}
		for _, said := range r.Status.Parents {
			if r.ref(said.ParentRef) == parent.Ref {
				parent.Entries = append(parent.Entries,
					Entry{Controller: said.Controller, Conditions: said.Conditions, generation: r.Metadata.Generation})
			}
		}
		list = append(list, parent)
	}
	return list
}

// Gateways lists the Gateways among the parents that a route names, each once.
func (r *Route) Gateways() []types.NamespacedName {
	var list []types.NamespacedName
	for _, written := range r.Spec.ParentRefs {
		if ref := r.ref(written); ref.IsGateway() && !slices.Contains(list, ref.NamespacedName) {
			list = append(list, ref.NamespacedName)
		}
	}
	return list
}
