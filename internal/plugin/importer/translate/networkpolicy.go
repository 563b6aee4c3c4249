package translate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// takePolicy converts the first NetworkPolicy that an AppService can express.
func (a *Application) takePolicy(list []read.Pair[networkingv1.NetworkPolicy]) {
	for _, p := range list {
		if a.policy == nil && a.sayable(p.Read) {
			a.policy = &p
			a.take(p.Object)
			continue
		}
		a.stays(p.Object, "spec.networkPolicy makes one NetworkPolicy, for these pods alone, with rules of who may reach them")
	}
}

// oneRule reports whether the peers of one list may reach the ports of the Services, and no others.
func (a *Application) oneRule(p *networkingv1.NetworkPolicy) bool {
	var offered []string
	for _, service := range a.services() {
		for _, entry := range service.Spec.Ports {
			if target := a.target(entry); target != nil {
				offered = append(offered, string(cmp.Or(entry.Protocol, corev1.ProtocolTCP))+"/"+numberIn(a.Template, *target))
			}
		}
	}
	if len(p.Spec.Ingress) != min(1, len(offered)) {
		return false
	}
	var open []string
	for _, rule := range p.Spec.Ingress {
		for _, port := range rule.Ports {
			if port.Port == nil || port.EndPort != nil {
				return false
			}
			open = append(open, string(ptr.Deref(port.Protocol, corev1.ProtocolTCP))+"/"+numberIn(a.Template, *port.Port))
		}
	}
	for _, set := range []*[]string{&offered, &open} {
		slices.Sort(*set)
		*set = slices.Compact(*set)
	}
	return slices.Equal(offered, open)
}

// toNetworkPolicy converts the NetworkPolicy of the pods.
func (a *Application) toNetworkPolicy(spec *v1.AppServiceSpec) {
	policy := a.policy.Read
	out := &v1.NetworkPolicy{Enabled: true}
	switch {
	case !a.oneRule(policy):
		out.Ingress = a.toRules(policy.Spec.Ingress)
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
func (a *Application) sayable(p *networkingv1.NetworkPolicy) bool {
	types := p.Spec.PolicyTypes
	return (len(types) == 0 || slices.Contains(types, networkingv1.PolicyTypeIngress)) && a.ownPods(&p.Spec.PodSelector) &&
		(len(p.Spec.Ingress) > 0 || a.oneRule(p))
}

// toRules converts rules, with ports by number: containers' ports may get other names.
func (a *Application) toRules(rules []networkingv1.NetworkPolicyIngressRule) []networkingv1.NetworkPolicyIngressRule {
	var list []networkingv1.NetworkPolicyIngressRule
	for _, rule := range rules {
		rule = *rule.DeepCopy()
		for n := range rule.Ports {
			if port := rule.Ports[n].Port; port != nil {
				*port = intstr.Parse(numberIn(a.Template, *port))
			}
		}
		list = append(list, rule)
	}
	return list
}
