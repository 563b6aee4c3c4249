package tree

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/health"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// heldBack returns nodes for the steps that are held back, and until when. It records which problems it reported.
func (f *Findings) heldBack(used map[v1.Problem]bool) []*Node {
	var list []*Node
	note := func(name, message string, until *metav1.Time) *Node {
		n := &Node{Type: TypeHeld, Name: name, State: StateWaiting, Message: message, Until: until}
		list = append(list, n)
		return n
	}
	if gone := f.Resource.GetDeletionTimestamp(); gone != nil {
		n := note("deletion", "being deleted; "+finalizers(f.Resource.GetFinalizers()), gone)
		for _, object := range f.Objects {
			if object.Live == nil || object.Live.GetDeletionTimestamp() == nil || len(object.Live.GetFinalizers()) == 0 {
				continue
			}
			going := kube.DeletionOf(object.Live)
			child := &Node{Type: TypeHeld, Name: object.Entry.Kind + " " + object.Entry.Name, State: StateWaiting,
				Message: "is being deleted " + going.String()}
			n.add(child.add(hint(going.Remedy())))
		}
	}
	spec, _ := f.Resource.Object["spec"].(map[string]any)
	if paused, _ := spec["paused"].(bool); paused {
		note("everything", "spec.paused is set: nothing is installed, upgraded or repaired until it is removed", nil).
			add(hint("kubectl appservice resume " + f.Resource.GetName()))
	}
	if waits := waitsForStage(f.Status); waits != "" {
		name, message := f.waiting(waits)
		note(name, message, nil).add(f.afterFailure(waits))
	}
	for _, problem := range f.Status.Problems {
		name := reason.Of(problem.Reason).Holds
		if name == "" {
			continue
		}
		var until *metav1.Time
		if problem.Reason == v1.ReasonExpiring {
			until = f.Status.ExpirationTime
		}
		n := note(name, problem.Message, until)
		// the hint is beside the problem already, if that was reported above
		if !used[problem] {
			n.add(hint(problem.Hint))
		}
		used[problem] = true
	}
	for _, object := range f.Objects {
		if why := suspended(object); why != "" {
			note(object.Entry.Kind+" "+object.Entry.Name, why, nil)
		}
	}
	if next := f.Status.NextAttemptTime; next != nil {
		note("the next attempt", "the failed step is retried, earlier if a related object changes", next)
	}
	// the problem Expiring has this time, and comes shortly before it
	if end := f.Status.ExpirationTime; end != nil && !hasProblem(f.Status, v1.ReasonExpiring) {
		note("deletion", "spec.ttl expires", end)
	}
	return list
}

// suspended returns the field of an object that suspends it, whoever set that; empty if nothing does.
func suspended(object *Object) string {
	if object.Live == nil {
		return ""
	}
	for _, field := range []string{"paused", "suspend"} {
		if set, _, _ := unstructured.NestedBool(object.Live.Object, "spec", field); set {
			return "spec." + field + " of the object is set: its controller leaves the pods as they are"
		}
	}
	if kept, paused := object.Live.GetAnnotations()[kedaPaused]; paused && kept != "false" {
		return "annotation " + kedaPaused + " is set: KEDA does not scale it"
	}
	return ""
}

// kedaPaused is the annotation that pauses a ScaledObject.
const kedaPaused = "autoscaling.keda.sh/paused"

func hasProblem(status *v1.AppServiceStatus, reason string) bool {
	return slices.ContainsFunc(status.Problems, func(p v1.Problem) bool { return p.Reason == reason })
}

func finalizers(names []string) string {
	if len(names) == 0 {
		return "the garbage collector deletes the objects"
	}
	return "blocked by finalizers: " + strings.Join(names, ", ")
}

// deadline returns when a progressing rollout counts as stalled; nil if there is no such time.
func (f *Findings) deadline(object *Object) *metav1.Time {
	deployment := kube.As[appsv1.Deployment](object.Live)
	if deployment == nil || deployment.Spec.ProgressDeadlineSeconds == nil || object.Entry.State != v1.ResourceWaiting {
		return nil
	}
	progressing := health.DeploymentCondition(deployment, appsv1.DeploymentProgressing)
	if progressing == nil || progressing.Reason == "NewReplicaSetAvailable" {
		return nil
	}
	end := progressing.LastUpdateTime.Add(time.Duration(*deployment.Spec.ProgressDeadlineSeconds) * time.Second)
	if end.Before(f.Now) {
		return nil
	}
	return &metav1.Time{Time: end}
}

// HeldBack names the step that is held back, for lists; empty if none is.
func HeldBack(status *v1.AppServiceStatus, now time.Time) string {
	switch {
	case status.Phase == v1.PhasePaused:
		return "paused"
	case hasProblem(status, v1.ReasonReturnedToRelease):
		return "another spec"
	case waitsForStage(status) != "":
		return "stage " + waitsForStage(status)
	case hasProblem(status, v1.ReasonRolloutHeldBack):
		return "its turn"
	case hasProblem(status, v1.ReasonHostConflict):
		return "a host"
	case status.NextAttemptTime != nil && status.NextAttemptTime.After(now):
		return fmt.Sprintf("next attempt in %s", status.NextAttemptTime.Sub(now).Round(time.Second))
	}
	return ""
}
