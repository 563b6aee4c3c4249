package gateway

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// ListenerSetKind is the kind of objects that add listeners to a Gateway of others.
var ListenerSetKind = schema.GroupKind{Group: Group, Kind: "ListenerSet"}

// ListenerSet holds the Gateway of a set of listeners, their hosts and certificates, and what a controller reports.
type ListenerSet struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		ParentRef parentRef       `json:"parentRef"`
		Listeners []AddedListener `json:"listeners"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
		Listeners  []ListenerReport   `json:"listeners"`
	} `json:"status"`
}

// ListenerReport is what a controller reports on a listener; without a name, on all of them together.
type ListenerReport struct {
	Name       string             `json:"name"`
	Conditions []metav1.Condition `json:"conditions"`
}

// AddedListener is a listener of a set.
type AddedListener struct {
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
	TLS      struct {
		Certificates []struct {
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"certificateRefs"`
	} `json:"tls"`
}

// ListenerSetOf reads a set of listeners; nil if the object is none, or only its outline is known.
func ListenerSetOf(object client.Object) *ListenerSet {
	if object == nil || kube.KeyOf(object).GroupKind != ListenerSetKind {
		return nil
	}
	return kube.As[ListenerSet](object)
}

// Parent returns what the listeners are added to: a Gateway as a rule.
func (s *ListenerSet) Parent() Ref { return refFrom(s.Spec.ParentRef, s.Metadata.Namespace) }

// ByListener returns what is reported on each listener, then on all of them together.
func (s *ListenerSet) ByListener() []ListenerReport {
	return append(slices.Clone(s.Status.Listeners), ListenerReport{Conditions: s.Status.Conditions})
}

// Secrets returns the Secrets of its own namespace that hold the certificates, each once.
func (s *ListenerSet) Secrets() []string {
	var names []string
	for _, listener := range s.Spec.Listeners {
		for _, secret := range listener.TLS.Certificates {
			own := cmp.Or(secret.Namespace, s.Metadata.Namespace) == s.Metadata.Namespace
			if own && cmp.Or(secret.Kind, "Secret") == "Secret" && !slices.Contains(names, secret.Name) {
				names = append(names, secret.Name)
			}
		}
	}
	return names
}
