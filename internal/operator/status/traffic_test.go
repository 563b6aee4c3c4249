package status

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// to is a port of a Service that leads to a port of pods by name.
func to(name string, number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString(name)}
}

// exposing are the ports of pods.
func exposing(names ...string) diagnose.Ports {
	out := diagnose.Ports{}
	for i, name := range names {
		out[diagnose.PortName{Name: name, Protocol: corev1.ProtocolTCP}] = int32(8080 + i)
	}
	return out
}

// The message of a stuck rollout about the previous version follows from the pods that get the traffic.
func TestWhatThePreviousVersionDoesMeanwhile(t *testing.T) {
	looked := func(ready int32, names ...string) *diagnose.Earlier {
		return &diagnose.Earlier{Ready: ready, Ports: exposing(names...)}
	}
	http, admin := []corev1.ServicePort{to("http", 80)}, []corev1.ServicePort{to("http", 80), to("admin", 81)}
	udp := to("http", 80)
	udp.Protocol = corev1.ProtocolUDP
	waits := counts{2, 3, 1, 2} // with maxSurge: one new pod beside two old ones
	const except = previousServes + ", except on "
	const lost = "; rollout stalled, the previous version runs but is not reached: its pods do not have "
	cases := map[string]struct {
		counts  counts
		ports   []corev1.ServicePort
		earlier *diagnose.Earlier
		ends    string
		phase   v1.Phase
	}{
		"it has the port":                              {waits, http, looked(2, "http"), previousServes, v1.PhaseDegraded},
		"it has the port, and more":                    {waits, http, looked(2, "http", "admin"), previousServes, v1.PhaseDegraded},
		"it lacks one of the ports":                    {waits, admin, looked(2, "http"), except + "port admin, which its pods do not have", v1.PhaseDegraded},
		"it lacks the only port":                       {waits, http, looked(2, "web"), lost + "port http", v1.PhaseFailed},
		"it lacks all ports":                           {waits, admin, looked(2, "web"), lost + "ports http, admin", v1.PhaseFailed},
		"it has the port for another protocol":         {waits, []corev1.ServicePort{udp}, looked(2, "http"), lost + "port http", v1.PhaseFailed},
		"it lacks many ports":                          {waits, []corev1.ServicePort{to("a", 1), to("b", 2), to("c", 3), to("d", 4), to("e", 5)}, looked(2), lost + "ports a, b, c and 2 more", v1.PhaseFailed},
		"a port without a name is called by number":    {waits, []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}}, looked(2, "web"), lost + "port 80", v1.PhaseFailed},
		"a number leads to any pod":                    {waits, []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}, looked(2), previousServes, v1.PhaseDegraded},
		"there is no Service":                          {waits, nil, looked(2), previousRuns, v1.PhaseDegraded},
		"nobody has looked yet":                        {waits, http, nil, previousRuns, v1.PhaseDegraded},
		"nobody has looked, it may be the new version": {counts{2, 4, 2, 2}, http, nil, "", v1.PhaseDegraded},
		"only the new version is ready":                {counts{2, 3, 2, 1}, http, looked(0), "", v1.PhaseDegraded},
		"the new version is reached, the old one not":  {counts{4, 5, 2, 4}, http, looked(3, "web"), lost + "port http", v1.PhaseDegraded},
		"nothing is available":                         {counts{2, 3, 1, 0}, http, looked(0), "", v1.PhaseFailed},
		"what was ready in the last look is not now":   {counts{2, 3, 1, 0}, http, looked(2, "http"), "", v1.PhaseFailed},
		"there is no version before":                   {counts{2, 2, 2, 1}, http, looked(0), "", v1.PhaseDegraded},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			workload := deployment(test.counts, progress(deadline))
			workload.Spec.Template = pods("web", 80)
			in := state{workload: workload, previous: v1.PhaseUpdating}.input(t)
			if test.ports != nil {
				ours, others := service(test.ports...), named("others")
				ours.Spec.Selector, others.Spec.Selector = workload.Spec.Template.Labels, map[string]string{"app": "other"}
				others.Spec.Ports = []corev1.ServicePort{to("unknown", 1)}
				in.Snapshot = snapshot(t, workload, ours, others)
			}
			in.Causes = ofDeployment(diagnose.Cause{Reason: v1.ReasonImageNotFound, Message: "no image", Detail: strings.Repeat("x", 300), Effect: diagnose.Lasting, Earlier: test.earlier})
			out := summarize(in)
			message := meta.FindStatusCondition(out.Conditions, v1.ConditionReady).Message
			if !strings.HasSuffix(message, "x"+test.ends) || utf8.RuneCountInString(message) > maxMessage {
				t.Errorf("got %q, want the end %q", message, test.ends)
			}
			assert.Equal(t, test.phase, out.Phase, "phase")
		})
	}
}

// Where the operator itself is blocked, nobody looks at pods: existing ones have the ports of the template.
func TestWhatServesWhileTheOperatorIsBlocked(t *testing.T) {
	for name, test := range map[string]struct {
		port  string
		phase v1.Phase
	}{
		"its pods have the port": {"http", v1.PhaseDegraded},
		"its pods lack the port": {"web", v1.PhaseFailed},
	} {
		t.Run(name, func(t *testing.T) {
			workload := deployment(counts{2, 2, 2, 2})
			workload.Spec.Template = pods("web", 80)
			ours := service(to(test.port, 80))
			ours.Spec.Selector = workload.Spec.Template.Labels
			in := state{workload: workload, problem: &Problem{Reason: v1.ReasonTooLarge, Message: "too large", Blocked: true}}.input(t)
			in.Snapshot = snapshot(t, workload, ours)
			out := summarize(in)
			if message := meta.FindStatusCondition(out.Conditions, v1.ConditionReady).Message; out.Phase != test.phase || message != "too large" {
				t.Errorf("got phase %s and the message %q, want %s", out.Phase, message, test.phase)
			}
		})
	}
}
