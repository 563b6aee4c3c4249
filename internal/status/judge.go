package status

import (
	"fmt"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/health"
	"github.com/example/appservice-operator/internal/kube"
)

// verdict is the one decision that all conditions follow from.
type verdict struct {
	outcome outcome
	reason  string
	message string
	serving bool // while it is stuck: something answers requests, be it an earlier version
}

// outcome is how a resource stands.
type outcome int

const (
	running outcome = iota // everything as desired
	moving                 // on its way there
	stuck                  // no progress without help
	paused                 // left as it is
)

// judge decides how the resource stands, and if that is to be stuck, what goes on meanwhile.
func judge(in Input, list []standing) verdict {
	switch {
	case in.Paused:
		return verdict{outcome: paused, reason: v1.ReasonPaused, message: "paused by spec.paused: nothing is installed, upgraded or repaired"}
	case in.Problem != nil && !in.Problem.Blocked:
		return verdict{outcome: moving, reason: in.Problem.Reason, message: in.Problem.Message}
	case in.Problem != nil:
		return verdict{outcome: stuck, reason: in.Problem.Reason, message: in.Problem.Message, serving: reachOf(in).serving()}
	}
	main, _ := mainOf(in.Resource.GetName(), in.Rendered)
	culprit, more := worst(list, main)
	if culprit < 0 {
		reason, message := well(list, main)
		return verdict{outcome: running, reason: reason, message: message}
	}
	return held(in, list, main, culprit, more)
}

// held is the verdict on a resource that an object keeps from being ready, and more of them.
func held(in Input, list []standing, main kube.Key, culprit, more int) verdict {
	first := list[culprit]
	v := verdict{outcome: moving, reason: first.Reason, message: first.Message}
	if v.reason == "" {
		v.reason = v1.ReasonResourceNotReady
	}
	if first.key != main || first.Reason == v1.ReasonPending {
		v.message = withName(first.key, first.Message)
	}
	ending := ""
	switch {
	case more == 1:
		ending = "; 1 more object is not ready"
	case more > 1:
		ending = fmt.Sprintf("; %d more objects are not ready", more)
	}
	if first.Verdict == health.Stuck && (runsPods(first.key) || !starting(list)) {
		v.outcome = stuck
		reach := reachOf(in)
		v.serving = reach.serving()
		if first.key == main {
			ending = reach.meanwhile() + ending
		}
	}
	v.message = shorten(v.message, maxMessage-len(ending)) + ending
	return v
}

// withName is a message with the object in front that it is about, unless it names it itself.
func withName(key kube.Key, message string) string {
	if name := key.String(); !strings.Contains(message, name) {
		return name + ": " + message
	}
	return message
}

// starting reports whether a workload is on its way: until that has ended, what else is wrong is said without an alarm.
func starting(list []standing) bool {
	for _, one := range list {
		if one.Verdict == health.Waiting && runsPods(one.key) {
			return true
		}
	}
	return false
}

// phase puts the verdict in one word. A resource that has never run is pending rather than updating.
func (v verdict) phase(previous v1.Phase) v1.Phase {
	switch {
	case v.outcome == paused:
		return v1.PhasePaused
	case v.outcome == running:
		return v1.PhaseRunning
	case v.outcome == stuck && v.serving:
		return v1.PhaseDegraded
	case v.outcome == stuck:
		return v1.PhaseFailed
	case previous == "" || previous == v1.PhasePending:
		return v1.PhasePending
	}
	return v1.PhaseUpdating
}
