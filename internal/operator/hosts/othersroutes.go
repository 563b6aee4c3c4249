package hosts

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// route is what is kept of a route of others: which object it is, and what it claims.
type route struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	claims, wildcards []Claim
}

// DeepCopyObject implements runtime.Object. A route is never changed.
func (r *route) DeepCopyObject() runtime.Object {
	out := *r
	return &out
}

// Strip is the transformation of the cache of others' routes.
func Strip(in any) (any, error) {
	object, ok := in.(client.Object)
	if _, stripped := in.(*route); !ok || stripped {
		return in, nil
	}
	if ingress, ok := object.(*networkingv1.Ingress); ok {
		ingress.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind(ingressKind.Kind))
	}
	out := &route{}
	out.claims, out.wildcards = hostsOf(object)
	out.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	out.Namespace, out.Name, out.UID = object.GetNamespace(), object.GetName(), object.GetUID()
	if controller := metav1.GetControllerOf(object); controller != nil && len(out.claims)+len(out.wildcards) > 0 {
		out.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	out.ResourceVersion, out.CreationTimestamp = object.GetResourceVersion(), object.GetCreationTimestamp()
	return out, nil
}

// mostHosts is how many hosts of a route are kept.
const mostHosts = 2000

// hostsOf lists the claims of a live route to hosts by name; of more hosts than are kept, to all below their domains.
// Those to wildcards are apart.
func hostsOf(object client.Object) (named, wildcards []Claim) {
	if stripped, ok := object.(*route); ok {
		return stripped.claims, stripped.wildcards
	}
	for _, claim := range claimsOf(object, limits.Claims) {
		claim.Entry = Entry{} // it does not matter
		switch {
		case strings.HasPrefix(claim.Host, "*"):
			wildcards = append(wildcards, claim)
		case claim.Host != "":
			named = append(named, claim)
		}
	}
	named, wildcards = slices.Compact(named), slices.Compact(wildcards)
	for wider := true; wider && len(named) > mostHosts; {
		named, wider = widened(named)
	}
	// the rest must not stay in memory
	return slices.Clone(named[:min(len(named), mostHosts)]), slices.Clone(wildcards[:min(len(wildcards), mostHosts)])
}

// widened returns claims to all hosts below the domains of the last ones, in place of these. Wildcards come first.
func widened(list []Claim) (out []Claim, wider bool) {
	out = slices.Clone(list[:mostHosts/2])
	for _, claim := range list[mostHosts/2:] {
		if _, domain, below := strings.Cut(strings.TrimPrefix(claim.Host, "*."), "."); below {
			claim.Host, wider = "*."+domain, true
		}
		out = append(out, claim)
	}
	return distinct(out), wider
}

// stakesOf returns the stakes of a live route in hosts by name and in wildcards.
func stakesOf(object client.Object) (named, wildcards *stake) {
	at := place{kube.KeyOf(object), object.GetNamespace()}
	s := stake{owner: controllerOf(object), place: at, born: bornOf(object), live: true}
	wide := s
	s.claims, wide.claims = hostsOf(object)
	return &s, &wide
}
