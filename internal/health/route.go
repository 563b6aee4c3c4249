package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/gateway"
)

// noticeTime is how long a controller may take to say something of a new route.
const noticeTime = 30 * time.Second

// Route is how a route of the Gateway API stands, of whatever kind: ready when each of its parents accepts it and has found all that it
// refers to. The words are those of the gateways. What no controller looks at is stuck some time after the route was created: how long a parent
// has been among those of the spec, the route does not say, so one that is added to an old route is stuck as soon as what controllers say
// of the other parents is up to date. A route without parents attaches to nothing, and is ready.
func Route(object client.Object, gateways gateway.Gateways, now time.Time) State {
	route := gateway.RouteOf(object)
	if route == nil {
		return State{}
	}
	var worst State
	var words []string
	var until time.Time
	for _, parent := range route.Parents() {
		state := parentState(route, parent, gateways, now)
		if state.Verdict > worst.Verdict {
			worst, words = state, nil
		}
		if until.IsZero() { // it is the same for all parents
			until = state.Until
		}
		if state.Verdict == worst.Verdict && state.Message != "" && !slices.Contains(words, state.Message) {
			words = append(words, state.Message)
		}
	}
	worst.Message, worst.Until = strings.Join(words, "; "), until
	return worst
}

// parentState is how one parent stands. Several controllers may say something of it, one that was there before among them: whoever
// serves the route is believed, then who refuses it, then who has yet to look.
func parentState(route *gateway.Route, parent gateway.Parent, gateways gateway.Gateways, now time.Time) State {
	name := parent.In(route.Metadata.Namespace)
	missing := gateways.Missing(parent.Ref)
	if len(parent.Entries) == 0 || missing { // what was said of a Gateway that is gone counts no more
		return unseen(route, parent, gateways, now)
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

// unseen is how a parent stands of which no controller says anything.
func unseen(route *gateway.Route, parent gateway.Parent, gateways gateway.Gateways, now time.Time) State {
	name := parent.In(route.Metadata.Namespace)
	until := route.Metadata.CreationTimestamp.Add(noticeTime)
	_, known := gateways[parent.NamespacedName]
	why, hint := name+" does not exist, or is not one that a controller serves", "see kubectl describe gateway; name one in spec.route.parentRefs that has an address"
	switch {
	case gateways.Missing(parent.Ref):
		why, hint = name+" does not exist", "name a Gateway in spec.route.parentRefs that there is (kubectl get gateways --all-namespaces), or create it"
	case parent.IsGateway() && known:
		why = name + " exists, but no controller serves its class"
	}
	switch {
	case now.Before(until):
		return State{Verdict: Waiting, Message: "waiting for a controller to look at it: " + name, Until: until}
	case route.Behind():
		return State{Verdict: Waiting, Message: "waiting for a controller to look at it: " + name}
	}
	return State{Verdict: Stuck, Reason: v1.ReasonRouteNotAccepted, Message: "no controller has looked at it: " + why, Hint: hint}
}

// entryState is how a parent stands for one controller.
func entryState(name string, entry gateway.Entry) State {
	if entry.Behind() {
		return State{Verdict: Waiting, Message: fmt.Sprintf("%s: waiting for %s to look at the newest version of it", name, entry.Controller)}
	}
	for _, bad := range []struct {
		kind   string
		status metav1.ConditionStatus
	}{{gateway.Accepted, metav1.ConditionFalse}, {gateway.ResolvedRefs, metav1.ConditionFalse}, {gateway.PartiallyInvalid, metav1.ConditionTrue}} {
		if condition := entry.Find(bad.kind); condition != nil && condition.Status == bad.status {
			return State{
				Verdict: Stuck, Reason: v1.ReasonRouteNotAccepted, Hint: refusals[condition.Reason],
				Message: fmt.Sprintf("%s: %s (%s of %s)", name, cmp.Or(condition.Message, bad.kind+" is "+string(bad.status)), condition.Reason, entry.Controller),
			}
		}
	}
	if accepted := entry.Find(gateway.Accepted); accepted == nil || accepted.Status != metav1.ConditionTrue {
		return State{Verdict: Waiting, Message: fmt.Sprintf("%s: %s has not said whether it accepts it", name, entry.Controller)}
	}
	return State{}
}

// refusals say what to do about refusals of gateways, by the reasons of the Gateway API.
var refusals = map[string]string{
	"NoMatchingParent":           "name a listener and a port in spec.route.parentRefs that the Gateway has (kubectl describe gateway)",
	"NotAllowedByListeners":      "ask whoever the Gateway belongs to for allowedRoutes of this namespace and kind",
	"NoMatchingListenerHostname": "take hosts in spec.route.hostnames that a listener serves (kubectl describe gateway)",
	"RefNotPermitted":            "ask for a ReferenceGrant in the namespace that the route refers to",
}
