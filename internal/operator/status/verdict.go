package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// verdict is the decision that all conditions are derived from.
type verdict struct {
	outcome outcome
	reason  string
	message string
	serving bool // while it is stuck: something answers requests, even if it is an earlier version
}

// outcome is the overall state of a resource.
type outcome int

const (
	running outcome = iota // everything as desired
	moving                 // progressing
	stuck                  // no progress without help
	paused                 // left unchanged
)

// verdictOf returns the verdict on a resource and, if it is stuck, what still works meanwhile.
func verdictOf(in Input, list []objectState) verdict {
	switch {
	case in.Paused:
		return verdict{outcome: paused, reason: v1.ReasonPaused,
			message: "paused by spec.paused: nothing is installed, upgraded or repaired"}
	case in.Problem != nil && !in.Problem.Blocked:
		return verdict{outcome: moving, reason: in.Problem.Reason, message: in.Problem.Message}
	case in.Problem != nil:
		return verdict{outcome: stuck, reason: in.Problem.Reason, message: in.Problem.Message,
			serving: trafficOf(in).serving()}
	}
	v := ofObjects(in, list)
	switch {
	case in.Returned != "":
		return returned(in, v)
	case in.Stays != "" && v.outcome == stuck:
		v.message = joined(v.message, in.Stays)
	}
	return v
}

// ofObjects returns the verdict that follows from the states of objects.
func ofObjects(in Input, list []objectState) verdict {
	main, _ := mainOf(in.Resource.GetName(), in.Rendered)
	if in.Stage != nil {
		list = list[:in.Stage.Objects]
	}
	culprit, more := worst(list, main)
	if culprit < 0 && in.Stage != nil {
		return verdict{outcome: moving, reason: v1.ReasonPending,
			message: in.Stage.prefix() + "ready, the rest follows"}
	}
	if culprit < 0 {
		reason, message := well(list, main)
		return verdict{outcome: running, reason: reason, message: message}
	}
	return unready(in, list, main, culprit, more)
}

// returned returns the verdict on a resource that returned to an earlier release, whose objects have a verdict: however
// well that runs, it is not what the spec requests.
func returned(in Input, objects verdict) verdict {
	v := verdict{outcome: stuck, reason: v1.ReasonReturnedToRelease, message: in.Returned,
		serving: trafficOf(in).serving()}
	if objects.outcome == stuck {
		v.message = joined(in.Returned, "not ready either: "+objects.message)
	}
	return v
}

// joined returns a message with a second half, each shortened to what a condition shows of it.
func joined(message, more string) string {
	more = shorten("; "+more, maxMessage/2)
	return shorten(message, maxMessage-len(more)) + more
}

// unready returns the verdict on a resource that is not ready because of one object, and more of them.
func unready(in Input, list []objectState, main kube.Key, culprit, more int) verdict {
	first := list[culprit]
	v := verdict{outcome: moving, reason: cmp.Or(first.Reason, v1.ReasonResourceNotReady), message: first.Message}
	if first.key != main || first.Reason == v1.ReasonPending || strings.HasPrefix(first.Message, "is ") {
		v.message = withName(first.key, first.Message)
	}
	ending := ""
	switch {
	case more == 1:
		ending = "; 1 more object is not ready"
	case more > 1:
		ending = fmt.Sprintf("; %d more objects are not ready", more)
	}
	if first.Verdict == health.Stuck && (kube.TraitsOf(first.key.GroupKind).RunsPods || !starting(list)) {
		v.outcome = stuck
		reaches := trafficOf(in)
		v.serving = reaches.serving()
		if first.key == main {
			ending = reaches.meanwhile() + ending
		}
		if in.Stage != nil && v.serving {
			ending = previousRelease
		}
	}
	if in.Stage != nil {
		v.message = in.Stage.prefix() + v.message
	}
	v.message = shorten(v.message, maxMessage-len(ending)) + ending
	return v
}

// previousRelease is the ending of the message of a release that does not get beyond a stage.
const previousRelease = "; nothing else was changed, the previous version still serves"

// prefix is how messages about objects of a stage begin. StageIn reads it.
func (s *Stage) prefix() string { return stagePrefix + s.Name + ": " }

const stagePrefix = "stage "

// StageIn returns the stage that a release waits for by the message of the condition Ready; empty if it waits for none.
func StageIn(message string) string {
	rest, waits := strings.CutPrefix(message, stagePrefix)
	name, _, found := strings.Cut(rest, ": ")
	if !waits || !found {
		return ""
	}
	return name
}

// withName prefixes a message with the object that it is about, unless it names the object itself.
func withName(key kube.Key, message string) string {
	if name := key.String(); !strings.Contains(message, name) {
		return name + ": " + message
	}
	return message
}

// starting reports whether a workload is progressing: until that has ended, other problems are reported without an
// alarm.
func starting(list []objectState) bool {
	return slices.ContainsFunc(list, func(one objectState) bool {
		return one.Verdict == health.Waiting && kube.TraitsOf(one.key.GroupKind).RunsPods
	})
}

// phase summarizes the verdict in one word. A resource that has never run is pending rather than updating.
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
