package status

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// labelInstance is on the pods of AppServices.
const labelInstance = "app.kubernetes.io/instance"

// served are the API groups of kinds whose controllers send traffic to the pods, as a rule from a namespace of their
// own.
var served = []string{networkingv1.GroupName, "gateway.networking.k8s.io", monitoring}

const monitoring = "monitoring.coreos.com"

// shutOut warns of a NetworkPolicy that admits no pod that may be the controller of an Ingress or a route, or
// Prometheus. Nobody sends traffic to what the stage `before` runs. Policies are additive, so another one in the
// namespace may admit it: the message says so.
func shutOut(in Input) []v1.Problem {
	var list []v1.Problem
	for _, key := range in.Rendered {
		policy := kube.As[networkingv1.NetworkPolicy](in.Snapshot.Objects[key])
		if policy == nil || stage.Of(policy) == stage.Before || admitsControllers(policy) {
			continue
		}
		at := slices.IndexFunc(in.Rendered, func(other kube.Key) bool {
			return slices.Contains(served, other.Group) && other.GroupKind != key.GroupKind
		})
		if at < 0 {
			continue
		}
		sender := "the controller of " + in.Rendered[at].String()
		if in.Rendered[at].Group == monitoring {
			sender = "Prometheus of " + in.Rendered[at].String()
		}
		message := fmt.Sprintf("%s blocks all other namespaces: %s cannot reach the pods (unless another NetworkPolicy allows it)",
			key, sender)
		list = append(list, warning(key.String(), v1.ReasonAccessTooNarrow, OneLine(message)))
	}
	return list
}

// admitsControllers reports whether a policy admits pods other than those of AppServices in its namespace.
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
