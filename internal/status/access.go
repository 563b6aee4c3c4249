package status

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/kube"
)

// labelInstance is on the pods of AppServices.
const labelInstance = "app.kubernetes.io/instance"

// served are the groups of kinds that others act on by sending traffic to the pods, from a namespace of their own as a rule.
var served = []string{networkingv1.GroupName, "gateway.networking.k8s.io", "monitoring.coreos.com"}

// shutOut warns of a NetworkPolicy that lets in no pod that may be the controller of an Ingress or a route, or Prometheus. Policies add up,
// so another one of the namespace may do: the message says so.
func shutOut(in Input) []v1.Problem {
	var list []v1.Problem
	for _, key := range in.Rendered {
		policy := kube.As[networkingv1.NetworkPolicy](in.Snapshot.Objects[key])
		if policy == nil || admitsControllers(policy) {
			continue
		}
		at := slices.IndexFunc(in.Rendered, func(other kube.Key) bool {
			return slices.Contains(served, other.Group) && other.GroupKind != key.GroupKind
		})
		if at < 0 {
			continue
		}
		list = append(list, v1.Problem{
			Type:   v1.ProblemWarning,
			Source: key.String(),
			Reason: v1.ReasonAccessTooNarrow,
			Message: OneLine(fmt.Sprintf("it lets in no pod from other namespaces, so that what acts on %s does not reach the pods, unless another NetworkPolicy lets it in",
				in.Rendered[at])),
			Hint: diagnose.Hint(v1.ReasonAccessTooNarrow),
		})
	}
	return list
}

// admitsControllers reports whether a policy lets in others than AppServices of its namespace.
func admitsControllers(policy *networkingv1.NetworkPolicy) bool {
	if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
		return true
	}
	return slices.ContainsFunc(policy.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
		return len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool {
			return peer.IPBlock != nil || peer.NamespaceSelector != nil || peer.PodSelector.MatchLabels[labelInstance] == ""
		})
	})
}
