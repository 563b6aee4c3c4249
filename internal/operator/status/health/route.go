package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// noticeTime is how long a controller may take to report on a new route.
const noticeTime = 30 * time.Second

// routeState returns the state of a Gateway API route of any kind: ready when each of its parents accepts it and has
// resolved all that it refers to. The messages are those of the gateways. A route that no controller reports on is
// stuck some time after its creation: it does not show how long a parent has been in the spec, so if a parent is added
// to an old route, that is stuck as soon as the reports on the other parents are up to date. A route without parents
// attaches to nothing, and is ready.
func routeState(route *gateway.Route, facts Facts) State {
	var worst State
	var words []string
	var until time.Time
	for _, parent := range route.Parents() {
		state := parentState(route, parent, facts)
		if state.Verdict > worst.Verdict {
			worst, words = state, nil
		}
		if until.IsZero() { // the same for all parents
			until = state.Until
		}
		if state.Verdict == worst.Verdict && state.Message != "" && !slices.Contains(words, state.Message) {
			words = append(words, state.Message)
		}
	}
	worst.Message, worst.Until = strings.Join(words, "; "), until
	return worst
}

// parentState returns the state of one parent. Several controllers may report on it, including a former one: a
// controller that serves the route takes precedence, then one that refuses it, then one that has not evaluated it yet.
func parentState(route *gateway.Route, parent gateway.Parent, facts Facts) State {
	name := parent.In(route.Metadata.Namespace)
	// reports on a Gateway that is gone no longer count
	if len(parent.Entries) == 0 || facts.Gateways.Missing(parent.Ref) {
		return unseen(route, parent, facts)
	}
	states := make([]State, 0, len(parent.Entries))
	for _, entry := range parent.Entries {
		states = append(states, entryState(name, entry))
	}
	believed := []Verdict{Ready, Stuck, Waiting}
	return slices.MinFunc(states, func(a, b State) int {
		return cmp.Compare(slices.Index(believed, a.Verdict), slices.Index(believed, b.Verdict))
	})
}

// unseen returns the state of a parent that no controller reports on.
func unseen(route *gateway.Route, parent gateway.Parent, facts Facts) State {
	name := parent.In(route.Metadata.Namespace)
	until := route.Metadata.CreationTimestamp.Add(noticeTime)
	_, known := facts.Gateways[parent.NamespacedName]
	why, hint := name+" does not exist, or no controller manages it",
		"see kubectl describe gateway; spec.route.parentRefs must name a Gateway that has an address"
	switch {
	case facts.Gateways.Missing(parent.Ref):
		why, hint = name+" does not exist",
			"use an existing Gateway in spec.route.parentRefs (kubectl get gateways --all-namespaces), or create it"
	case parent.IsGateway() && known:
		why = name + " exists, but no controller manages its GatewayClass"
	}
	switch {
	case facts.Now.Before(until):
		return State{Verdict: Waiting, Message: "waiting for the controller of " + name, Until: until}
	case route.Behind():
		return State{Verdict: Waiting, Message: "waiting for the controller of " + name}
	}
	return State{Verdict: Stuck, Reason: v1.ReasonRouteNotAccepted, Message: "the route is not accepted: " + why,
		Hint: hint}
}

// entryState returns the state of a parent according to one controller.
func entryState(name string, entry gateway.Entry) State {
	if entry.Behind() {
		return State{Verdict: Waiting,
			Message: fmt.Sprintf("%s: waiting for %s to process the newest version of the route", name, entry.Controller)}
	}
	for _, bad := range []struct {
		kind   string
		status metav1.ConditionStatus
	}{{gateway.Accepted, metav1.ConditionFalse}, {gateway.ResolvedRefs, metav1.ConditionFalse},
		{gateway.PartiallyInvalid, metav1.ConditionTrue}} {
		if condition := meta.FindStatusCondition(entry.Conditions, bad.kind); condition != nil &&
			condition.Status == bad.status {
			return State{
				Verdict: Stuck, Reason: v1.ReasonRouteNotAccepted, Hint: refusals[condition.Reason],
				Message: fmt.Sprintf("%s: %s (%s of %s)", name, cmp.Or(condition.Message, bad.kind+" is "+string(bad.status)),
					condition.Reason, entry.Controller),
			}
		}
	}
	if !meta.IsStatusConditionTrue(entry.Conditions, gateway.Accepted) {
		return State{Verdict: Waiting,
			Message: fmt.Sprintf("%s: %s has not reported whether it accepts the route", name, entry.Controller)}
	}
	return State{}
}

// refusals are hints for refusals of gateways, by the reasons of the Gateway API.
var refusals = map[string]string{
	"NoMatchingParent":           "use a listener and port of the Gateway in spec.route.parentRefs (kubectl describe gateway)",
	"NotAllowedByListeners":      "ask the owner of the Gateway for allowedRoutes of this namespace and kind",
	"NoMatchingListenerHostname": "use hosts in spec.route.hostnames that a listener serves (kubectl describe gateway)",
	"RefNotPermitted":            "ask for a ReferenceGrant in the namespace that the route refers to",
}
