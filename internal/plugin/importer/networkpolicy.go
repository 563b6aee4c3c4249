package importer

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// toNetworkPolicy converts the NetworkPolicy of the pods.
func (s *subject) toNetworkPolicy(spec *v1.AppServiceSpec) {
	policy := s.policy.read
	out := &v1.NetworkPolicy{Enabled: true}
	switch {
	case !s.oneRule(policy):
		out.Ingress = s.toRules(policy.Spec.Ingress)
	case len(policy.Spec.Ingress) > 0:
		out.From = policy.Spec.Ingress[0].From
	}
	if slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
		egress := append([]networkingv1.NetworkPolicyEgressRule{}, policy.Spec.Egress...)
		out.Egress = &egress
	}
	spec.NetworkPolicy = out
}

// sayable reports whether an AppService can express a NetworkPolicy: it is for the workload's own pods, and allows some
// traffic.
func (s *subject) sayable(p *networkingv1.NetworkPolicy) bool {
	types := p.Spec.PolicyTypes
	return (len(types) == 0 || slices.Contains(types, networkingv1.PolicyTypeIngress)) && s.ownPods(&p.Spec.PodSelector) &&
		(len(p.Spec.Ingress) > 0 || s.oneRule(p))
}

// toRules converts rules, with ports by number: containers' ports may get other names.
func (s *subject) toRules(rules []networkingv1.NetworkPolicyIngressRule) []networkingv1.NetworkPolicyIngressRule {
	var list []networkingv1.NetworkPolicyIngressRule
	for _, rule := range rules {
		rule = *rule.DeepCopy()
		for n := range rule.Ports {
			if port := rule.Ports[n].Port; port != nil {
				*port = intstr.Parse(numberIn(s.template, *port))
			}
		}
		list = append(list, rule)
	}
	return list
}
