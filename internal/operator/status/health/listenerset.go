package health

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// listenerSetState returns the state of listeners that are added to a Gateway: ready when that has taken and programmed
// all of them. A Gateway that allows none, and listeners that contradict others, need help; for the
// certificate, issuers have some time.
func listenerSetState(object client.Object, set *gateway.ListenerSet, facts Facts) State {
	name := set.Parent().In(set.Metadata.Namespace)
	said := false
	for _, listener := range set.ByListener() {
		for _, condition := range listener.Conditions {
			switch {
			case condition.ObservedGeneration != 0 && condition.ObservedGeneration < set.Metadata.Generation:
				return State{Verdict: Waiting, Message: name + ": waiting for the controller to process the newest version of the ListenerSet"}
			case against(condition):
				return listenerRefused(object, name, listener.Name, condition, facts)
			}
			said = said || condition.Type == "Programmed" && condition.Status == metav1.ConditionTrue
		}
	}
	if !said {
		return State{Reason: v1.ReasonRouteNotAccepted, Hint: listenerHint,
			Message: "the listeners are not added: " + name + " does not exist, or its controller does not support ListenerSets",
		}.overdue(object, facts, noticeTime)
	}
	return State{}
}

// listenerHint is for what only the owner of the Gateway can change.
const listenerHint = "ask the owner of the Gateway for allowedListeners of this namespace, or remove spec.route.tls"

// against reports whether a condition says that a listener does not serve.
func against(condition metav1.Condition) bool {
	switch condition.Type {
	case gateway.Accepted, "Programmed", gateway.ResolvedRefs:
		return condition.Status == metav1.ConditionFalse
	}
	return condition.Type == "Conflicted" && condition.Status == metav1.ConditionTrue
}

// listenerRefused returns the state for a condition against a listener, or against all of them if it has no name.
func listenerRefused(object client.Object, parent, listener string, condition metav1.Condition, facts Facts) State {
	if listener != "" {
		parent = "listener " + listener + " at " + parent
	}
	state := State{Verdict: Stuck, Reason: v1.ReasonRouteNotAccepted,
		Message: fmt.Sprintf("%s: %s (%s)", parent,
			cmp.Or(condition.Message, condition.Type+" is "+string(condition.Status)), condition.Reason)}
	switch {
	case condition.Type == "Conflicted":
		state.Hint = "use another host in spec.route.hostnames: another listener of the Gateway has this one"
	case condition.Reason == "NotAllowed":
		state.Hint = listenerHint
	default:
		state.Hint = "see kubectl describe listenerset, and kubectl describe certificate if cert-manager creates it"
		return state.overdue(object, facts, certificatePatience)
	}
	return state
}
