//go:build cluster

// Package security plays tenants against the real API server with the real operator: a user who may write AppServices in one namespace,
// and nothing else, tries to gain more by it, to harm others, or to harm the operator. Each attempt is a vector, and runs twice: as
// shipped, when it must be blocked, and with its guard off, when it must succeed, so that it is known to try the real thing.
//
// To add a vector, put an entry into the table of a file vectors_NAME_test.go:
//
//	var _ = register(vectors{
//		"a container of the pod template is privileged": {
//			does:   applies(`podTemplate: {spec: {containers: [{name: app, securityContext: {privileged: true}}]}}`),
//			guard:  "Pod Security",
//			reason: v1.ReasonPodSecurityViolation,
//			words:  []string{"baseline", "privileged"},
//			harm:   pods(func(p *corev1.PodSpec) bool { return *p.Containers[0].SecurityContext.Privileged }),
//		},
//	})
//
// does is what the tenant does, with his own client, and harm what he wants to come of it. A vector that is blocked by a condition names its
// reason, one that is not refused because it has no effect has seen instead, and any other is refused by the API server.
//
// A namespace in which guards are off has a name that begins with off- and the label security=off. Pod Security is privileged there, the
// operator's policy allows everything, and the bindings of admission policies leave it out (guards_test.go). Vectors with rule set are
// guarded by the CRD: they run last, on a CRD without its rules. A guard of another kind is taken away by the function off of the vector.
// A fixed property of the operator has no switch, and its reason is in fixed: show it red by a change of the code.
//
// Everything here is done by one operator that serves all namespaces. A vector with an operator of its own labels its AppServices with
// ownOperator, which that one does not serve.
package security

import (
	"context"
	"testing"

	"github.com/example/appservice-operator/test/harness"
)

var cluster *harness.Cluster

func TestMain(m *testing.M) {
	harness.Log()
	harness.Main("appservice-security", func(_ context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		code := m.Run()
		return code, tally.report()
	})
}
