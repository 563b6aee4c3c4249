package health

import (
	"testing"
	"time"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestListenerSet(t *testing.T) {
	const ready = `{type: Accepted, status: "True", observedGeneration: 2}, {type: Programmed, status: "True", observedGeneration: 2}`
	const pending = `{type: Accepted, status: Unknown, reason: Pending}, {type: Programmed, status: Unknown, reason: Pending}`
	const waiting = "the listeners are not added: Gateway gateways/edge does not exist, or its controller does not support ListenerSets"
	for name, test := range map[string]struct {
		set, listener   string // conditions
		after           time.Duration
		verdict         Verdict
		reason, message string
	}{
		"added":                         {set: ready, listener: ready, verdict: Ready},
		"new":                           {set: pending, after: time.Second, verdict: Waiting, reason: v1.ReasonRouteNotAccepted, message: waiting},
		"not looked at":                 {set: pending, verdict: Stuck, reason: v1.ReasonRouteNotAccepted, message: waiting},
		"an earlier version":            {set: `{type: Accepted, status: "True", observedGeneration: 1}`, verdict: Waiting, message: "Gateway gateways/edge: waiting for the controller to process the newest version of the ListenerSet"},
		"not allowed, even when new":    {set: `{type: Accepted, status: "False", reason: NotAllowed, message: not in this namespace}`, after: time.Second, verdict: Stuck, reason: v1.ReasonRouteNotAccepted, message: "Gateway gateways/edge: not in this namespace (NotAllowed)"},
		"another has the host":          {set: ready, listener: `{type: Conflicted, status: "True", reason: HostnameConflict, message: taken}`, after: time.Second, verdict: Stuck, reason: v1.ReasonRouteNotAccepted, message: "listener https at Gateway gateways/edge: taken (HostnameConflict)"},
		"the certificate is on its way": {set: ready, listener: `{type: ResolvedRefs, status: "False", reason: InvalidCertificateRef, message: no Secret}`, after: time.Minute, verdict: Waiting, reason: v1.ReasonRouteNotAccepted, message: "listener https at Gateway gateways/edge: no Secret (InvalidCertificateRef)"},
		"the certificate is missing":    {set: ready, listener: `{type: ResolvedRefs, status: "False", reason: InvalidCertificateRef}`, verdict: Stuck, reason: v1.ReasonRouteNotAccepted, message: "listener https at Gateway gateways/edge: ResolvedRefs is False (InvalidCertificateRef)"},
	} {
		t.Run(name, func(t *testing.T) {
			set := routeOf(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: web, namespace: demo, generation: 2, creationTimestamp: "2026-01-01T00:00:00Z"},
spec: {parentRef: {name: edge, namespace: gateways}, listeners: [{name: https, port: 443, protocol: HTTPS}]},
status: {conditions: [`+test.set+`], listeners: [{name: https, conditions: [`+test.listener+`]}]}}`)
			if test.after == 0 {
				test.after = time.Hour
			}
			got := Of(set, Facts{Now: created.Add(test.after)})
			if got.Verdict != test.verdict || got.Reason != test.reason || got.Message != test.message {
				t.Errorf("got %v, %s: %s", got.Verdict, got.Reason, got.Message)
			}
		})
	}
}

// The rule of lint for the annotation ready-when asks for it.
func TestWhichKindsHaveARuleOfTheirOwn(t *testing.T) {
	for kind, want := range map[string]bool{
		"{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web}}":   true,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: web}}": true,
		"{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: web}}":            true,
		"{apiVersion: example.org/v1, kind: Widget, metadata: {name: web}}":                    false,
	} {
		if got := HasRule(routeOf(t, kind)); got != want {
			t.Errorf("%s: got %t, want %t", kind, got, want)
		}
	}
}
