package status

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// ingressEndpoints returns the paths of an Ingress under each of its hosts. A rule for all hosts has the addresses that
// the controller assigned to the Ingress.
func ingressEndpoints(ingress *networkingv1.Ingress) []v1.Endpoint {
	rules := ingress.Spec.Rules
	if len(rules) == 0 {
		rules = []networkingv1.IngressRule{{}}
	}
	var list []v1.Endpoint
	for _, rule := range rules {
		hosts := []string{rule.Host}
		if rule.Host == "" {
			hosts = addressesOf(ingress)
		}
		for _, host := range hosts {
			for _, path := range pathsOf(rule, ingress.Spec.DefaultBackend) {
				endpoint := v1.Endpoint{Scope: v1.ScopeExternal,
					URL: schemeOf(ingress, rule.Host) + "://" + host + strings.TrimSuffix(path, "/")}
				if !slices.Contains(list, endpoint) {
					list = append(list, endpoint)
				}
			}
		}
	}
	return list
}

// addressesOf returns the addresses at which the controller serves an Ingress; none until it reports them.
func addressesOf(ingress *networkingv1.Ingress) []string {
	var list []string
	for _, balancer := range ingress.Status.LoadBalancer.Ingress {
		if host := cmp.Or(balancer.Hostname, literal(balancer.IP)); host != "" {
			list = append(list, host)
		}
	}
	return list
}

// pathsOf returns the paths of a rule that are literal: an Ingress controller may treat others as regular expressions.
// A rule without paths leads to the default backend.
func pathsOf(rule networkingv1.IngressRule, backend *networkingv1.IngressBackend) []string {
	var list []string
	if rule.HTTP == nil && backend != nil {
		list = append(list, "")
	}
	if rule.HTTP != nil {
		for _, path := range rule.HTTP.Paths {
			own := ptr.Deref(path.PathType,
				networkingv1.PathTypeImplementationSpecific) == networkingv1.PathTypeImplementationSpecific
			if !own || !strings.ContainsAny(path.Path, `()[]{}^$|*+?\`) {
				list = append(list, path.Path)
			}
		}
	}
	return list
}

// schemeOf returns https for a host with TLS: listed by name, matched by a wildcard for its first label, or covered by
// an entry without hosts, which applies to all others.
func schemeOf(ingress *networkingv1.Ingress, host string) string {
	_, domain, _ := strings.Cut(host, ".")
	for _, tls := range ingress.Spec.TLS {
		if len(tls.Hosts) == 0 || slices.Contains(tls.Hosts, host) ||
			domain != "" && slices.Contains(tls.Hosts, "*."+domain) {
			return "https"
		}
	}
	return "http"
}
