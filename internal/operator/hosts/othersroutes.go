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

// route is a route of others as the cache keeps it: its identity and paths.
type route struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	paths, wildcards []RoutePath
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
	out.paths, out.wildcards = hostsOf(object)
	out.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	out.Namespace, out.Name, out.UID = object.GetNamespace(), object.GetName(), object.GetUID()
	if controller := metav1.GetControllerOf(object); controller != nil && len(out.paths)+len(out.wildcards) > 0 {
		out.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	out.ResourceVersion, out.CreationTimestamp = object.GetResourceVersion(), object.GetCreationTimestamp()
	return out, nil
}

// mostHosts is how many hosts of a route are kept.
const mostHosts = 2000

// hostsOf lists the paths of a live route to hosts by name; of more hosts than are kept, to all below their domains.
// Those to wildcards are apart.
func hostsOf(object client.Object) (named, wildcards []RoutePath) {
	if stripped, ok := object.(*route); ok {
		return stripped.paths, stripped.wildcards
	}
	for _, path := range routePathsOf(object, limits.RoutePaths) {
		path.Entry = Entry{} // it does not matter
		switch {
		case strings.HasPrefix(path.Host, "*"):
			wildcards = append(wildcards, path)
		case path.Host != "":
			named = append(named, path)
		}
	}
	named, wildcards = slices.Compact(named), slices.Compact(wildcards)
	for wider := true; wider && len(named) > mostHosts; {
		named, wider = widened(named)
	}
	// the rest must not stay in memory
	return slices.Clone(named[:min(len(named), mostHosts)]), slices.Clone(wildcards[:min(len(wildcards), mostHosts)])
}

// widened returns paths to all hosts below the domains of the last ones, in place of these. Wildcards come first.
func widened(list []RoutePath) (out []RoutePath, wider bool) {
	out = slices.Clone(list[:mostHosts/2])
	for _, path := range list[mostHosts/2:] {
		if _, domain, below := strings.Cut(strings.TrimPrefix(path.Host, "*."), "."); below {
			path.Host, wider = "*."+domain, true
		}
		out = append(out, path)
	}
	return distinct(out), wider
}

// candidatesOf returns the candidates of a live route in hosts by name and in wildcards.
func candidatesOf(object client.Object) (named, wildcards *candidate) {
	at := routeKey{kube.KeyOf(object), object.GetNamespace()}
	c := candidate{owner: controllerOf(object), route: at, born: bornOf(object), live: true}
	wide := c
	c.paths, wide.paths = hostsOf(object)
	return &c, &wide
}
