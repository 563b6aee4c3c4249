package plugin

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status"
)

// outcome is what a wait has come to.
type outcome int

const (
	outcomeWaiting outcome = iota
	outcomeReady
	outcomeFailed
)

// lasting is how long an error may last before a wait ends: those of dependencies and images often end by themselves.
const lasting = 30 * time.Second

// waited is a resource that is waited for.
type waited struct {
	name resourceName
	// cause is the reason of the last error, and when it was first seen.
	cause string
	since time.Time
	// again is when its pods may be read again.
	again time.Time
}

// verdict returns what the wait for a resource has come to, and its state in a line: as it was last seen, nil if it
// does not exist.
func (w *waited) verdict(resource *unstructured.Unstructured, now time.Time) (outcome, string) {
	if resource == nil {
		return outcomeFailed, "resource does not exist"
	}
	if resource.GetDeletionTimestamp() != nil {
		return outcomeFailed, "resource is being deleted"
	}
	current, err := status.Of(resource)
	if err != nil {
		return outcomeFailed, "status cannot be read: " + err.Error()
	}
	if current.ObservedGeneration < resource.GetGeneration() {
		w.cause = ""
		if current.ObservedGeneration == 0 && now.Sub(resource.GetCreationTimestamp().Time) >= lasting {
			return outcomeWaiting, "no operator has written the status yet: check that it runs, and serves this namespace"
		}
		return outcomeWaiting, "the operator has not processed the latest spec yet"
	}
	if current.Phase == v1.PhasePaused {
		return outcomeFailed, "reconciles are paused: kubectl appservice resume " + resource.GetName()
	}
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	returned := slices.IndexFunc(current.Problems,
		func(p v1.Problem) bool { return p.Reason == v1.ReasonReturnedToRelease })
	switch {
	case ready == nil:
		return outcomeWaiting, string(current.Phase)
	case returned >= 0: // it is ready, but not with this spec
		return outcomeFailed, current.Problems[returned].Reason + ": " + current.Problems[returned].Message
	case ready.Status == metav1.ConditionTrue:
		return outcomeReady, progress(current)
	}
	line := fmt.Sprintf("%s  %s: %s", progress(current), ready.Reason, ready.Message)
	stalled := meta.FindStatusCondition(current.Conditions, v1.ConditionStalled)
	if stalled != nil && stalled.Status == metav1.ConditionTrue &&
		stalled.ObservedGeneration == resource.GetGeneration() && ready.Reason != v1.ReasonDependencyMissing {
		return outcomeFailed, line
	}
	if w.lasts(current, ready, now) {
		return outcomeFailed, line
	}
	return outcomeWaiting, line
}

// lasts reports whether an error that may end without a change of the spec has been there for too long: for a missing
// object, which may have been applied just now, since the wait began. A turn that is waited for is none.
func (w *waited) lasts(current *v1.AppServiceStatus, ready *metav1.Condition, now time.Time) bool {
	isError := func(p v1.Problem) bool { return p.Type == v1.ProblemError && p.Reason != v1.ReasonRolloutHeldBack }
	if !slices.ContainsFunc(current.Problems, isError) || ready.Reason == v1.ReasonRolloutHeldBack {
		w.cause = ""
		return false
	}
	if w.cause != ready.Reason {
		if w.cause == "" && w.since.IsZero() && ready.Reason != v1.ReasonDependencyMissing {
			w.since = ready.LastTransitionTime.Time // it may have been there before
		} else {
			w.since = now
		}
		w.cause = ready.Reason
	}
	return now.Sub(w.since) >= lasting
}

// progress returns the stages of a release in a line: its tasks, the replicas of the newest release, and the phase.
func progress(current *v1.AppServiceStatus) string {
	line := string(current.Phase)
	for _, run := range current.Runs {
		if run.Result == "" {
			line += "  task " + run.Job + " runs"
		}
	}
	if wanted := status.Wanted(current); wanted > 0 {
		line += fmt.Sprintf("  %s %d of %d updated, %d ready", bar(current.UpdatedReplicas, wanted), current.UpdatedReplicas,
			wanted, current.ReadyReplicas)
	}
	return line
}

// cells is the width of a bar.
const cells = 10

// bar returns a bar of a share.
func bar(part, whole int32) string {
	full := int(min(cells, cells*part/max(1, whole)))
	out := make([]rune, cells)
	for i := range out {
		out[i] = '░'
		if i < full {
			out[i] = '█'
		}
	}
	return string(out)
}
