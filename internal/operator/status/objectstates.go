package status

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// objectState is the state of one rendered object.
type objectState struct {
	key kube.Key
	health.State
}

// objectStates returns the states of the rendered objects, in the order in which they are written.
func objectStates(in Input) []objectState {
	facts := factsOf(in)
	list := make([]objectState, 0, len(in.Rendered))
	for _, key := range in.Rendered {
		state := health.Of(in.Snapshot.Objects[key], facts)
		if run := runOf(in.Previous, key); run != nil && in.Snapshot.Objects[key] == nil {
			state = health.Ended(run)
		}
		if in.Snapshot.Sees([]kube.Key{key}) != nil {
			state = health.State{Verdict: health.Waiting, Reason: v1.ReasonAPIUnavailable,
				Message: "the operator cannot read this kind"}
		}
		list = append(list, objectState{key, withCauses(state, in.Causes[key])})
	}
	return list
}

// runOf returns the run of a Job that has ended; nil if there is none.
func runOf(status *v1.AppServiceStatus, key kube.Key) *v1.RunStatus {
	for i, run := range status.Runs {
		if key.Kind == "Job" && key.Group == batchv1.GroupName && key.Name == run.Job && run.Result != "" {
			return &status.Runs[i]
		}
	}
	return nil
}

// factsOf returns the facts that objects do not contain themselves.
func factsOf(in Input) health.Facts {
	facts := health.Facts{Now: in.Now.Time, Missing: map[reference.Object][]string{}, Gateways: in.Gateways,
		Live: in.Snapshot.Objects}
	for _, missing := range in.Missing {
		if missing.Key == "" {
			facts.Missing[missing.Object] = in.Others[missing.Object]
		}
	}
	if in.Snapshot.Record != nil {
		facts.Since = in.Snapshot.Record.Made
	}
	return facts
}

// withCauses merges the worst cause into a state. With a lasting cause the object is stuck, whatever its deadline; a
// cause that may pass only explains the wait. Causes of an earlier spec no longer count.
func withCauses(state health.State, causes []diagnose.Cause) health.State {
	if len(causes) == 0 || causes[0].Effect == diagnose.Advice || state == health.Unnoticed {
		return state
	}
	switch first := causes[0]; {
	case first.Effect == diagnose.Lasting, state.Verdict == health.Stuck:
		state.Verdict, state.Reason, state.Message, state.Hint = health.Stuck, first.Reason, first.Text(), first.Hint
	case state.Verdict == health.Waiting:
		state.Message = first.Text()
	}
	return state
}

// mainKinds are the kinds whose pods serve until they are scaled down or deleted, the most common first.
var mainKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// mainOf returns the main workload of a resource: the one with its name, else the only one of its kind. It returns
// false if there is none.
func mainOf(name string, keys []kube.Key) (kube.Key, bool) {
	for _, kind := range mainKinds {
		var of []kube.Key
		for _, key := range keys {
			if key.Group == appsv1.GroupName && key.Kind == kind {
				of = append(of, key)
			}
		}
		at := slices.IndexFunc(of, func(key kube.Key) bool { return key.Name == name })
		switch {
		case at >= 0:
			return of[at], true
		case len(of) == 1:
			return of[0], true
		case len(of) > 1:
			return kube.Key{}, false
		}
	}
	return kube.Key{}, false
}

// worst returns the object that keeps the resource from being ready, the main workload first, then others that run
// pods; and how many more there are. It returns -1 if there is none.
func worst(list []objectState, main kube.Key) (first, more int) {
	first = -1
	rank := func(one objectState) int {
		rank := 0
		if one.Verdict == health.Stuck {
			rank += 4
		}
		switch {
		case one.key == main:
			rank += 2
		case kube.TraitsOf(one.key.GroupKind).RunsPods:
			rank++
		}
		return rank
	}
	for i, one := range list {
		switch {
		case !one.Holds():
		case first < 0:
			first = i
		default:
			more++
			if rank(one) > rank(list[first]) {
				first = i
			}
		}
	}
	return first, more
}

// well returns the reason and the message if all objects are ready.
func well(list []objectState, main kube.Key) (reason, message string) {
	var complete, running int
	for _, one := range list {
		switch {
		case one.key == main:
			return one.Reason, one.Message
		case one.Reason == v1.ReasonComplete:
			complete++
		case kube.TraitsOf(one.key.GroupKind).RunsPods:
			running++
		}
	}
	ready := text.Agree(len(list), "the only object is ready", fmt.Sprintf("all %d objects are ready", len(list)))
	switch {
	case complete > 0 && running == 0:
		return v1.ReasonComplete, text.Agree(len(list), "the Job is complete", ready+", Jobs are complete")
	case running > 0:
		return v1.ReasonRunning, ready
	}
	if len(list) == 0 {
		return v1.ReasonNoWorkload, "the chart renders nothing"
	}
	return v1.ReasonNoWorkload, ready + text.Agree(len(list), "; it runs no pods", "; none of them runs pods")
}
