// Package status sums up a resource: from the resource, what is there and what went wrong it makes the whole status. It
// is pure: it reads and writes no cluster, and the same input gives the same status to the byte.
package status

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/kube"
)

// Input is what a status is made of.
type Input struct {
	// Resource as it was read; its generation is the one that the status speaks of.
	Resource *unstructured.Unstructured
	// Previous status of the resource.
	Previous *v1.AppServiceStatus
	// Snapshot of what is there after the action.
	Snapshot *cluster.Snapshot
	// Digest of what is rendered; empty where it cannot be rendered.
	Digest string
	// Rendered objects, those that the cluster does not serve excepted; nil where nothing can be rendered.
	Rendered []kube.Key
	// Problem that kept the operator from bringing the objects to what is rendered; nil where they are as rendered.
	Problem *Problem
	// Unserved are rendered objects that were left out because the cluster does not serve their kind.
	Unserved []kube.Key
	// Causes are why the Deployment is not as desired, the worst first.
	Causes []diagnose.Cause
	// Missing are references to what is not there, though pods start without it.
	Missing []dependency.Reference
	// Waits says how many others wait before it if a rollout that the operator causes waits for its turn; else it is empty.
	Waits string
	// NextAttempt is when what failed is tried again, if time is all that may end it; zero if not.
	NextAttempt time.Time
	// Paused says that the operator leaves everything as it is.
	Paused bool
	// Now is the time of conditions that change.
	Now metav1.Time
}

// Problem is what stands in the way.
type Problem struct {
	// Reason of the conditions Ready and, where it is blocked, Stalled.
	Reason string
	// Message is one line, cause first.
	Message string
	// Hint says what to do; empty for what the reason says already.
	Hint string
	// Blocked says that nothing moves without help; otherwise trying again may do.
	Blocked bool
}

// Summarize makes the status.
func Summarize(in Input) *v1.AppServiceStatus {
	out := in.Previous.DeepCopy()
	out.ObservedGeneration = in.Resource.GetGeneration()
	workload := Workload(in.Resource, in.Snapshot)
	counters(out, workload)
	endpoints(out, in.Resource, in.Snapshot)
	resources(out, in)
	if record := in.Snapshot.Record; record != nil {
		out.Release = &v1.ReleaseStatus{Revision: record.Revision, ChartVersion: record.Chart, Digest: record.Digest}
	} else {
		out.Release = nil
	}
	out.NextAttemptTime = nextAttempt(in)
	verdict := heldBack(in, judge(in, workload))
	out.Problems = problems(in, workload, verdict)
	out.Phase = verdict.phase(in.Previous.Phase)
	for _, condition := range conditions(in, workload, verdict) {
		condition.ObservedGeneration = out.ObservedGeneration
		condition.LastTransitionTime = in.Now
		condition.Message = OneLine(condition.Message)
		meta.SetStatusCondition(&out.Conditions, condition)
	}
	damp(in, out, verdict)
	return out
}

// nextAttempt is the time of the next attempt in whole seconds, as statuses are stored, and never too early; nil if there is none.
func nextAttempt(in Input) *metav1.Time {
	if in.NextAttempt.IsZero() {
		return nil
	}
	whole := in.NextAttempt.Truncate(time.Second)
	if whole.Before(in.NextAttempt) {
		whole = whole.Add(time.Second)
	}
	return &metav1.Time{Time: whole}
}

// Workload gives the Deployment of the resource: the one of its name, else the only one; nil where there is none.
func Workload(resource *unstructured.Unstructured, snapshot *cluster.Snapshot) *appsv1.Deployment {
	object := snapshot.Object("apps", "Deployment", resource.GetName())
	if object == nil {
		for key := range snapshot.Objects {
			if key.Kind != "Deployment" {
				continue
			}
			if object != nil {
				return nil
			}
			object = snapshot.Object(key.Group, key.Kind, key.Name)
		}
	}
	return kube.As[appsv1.Deployment](object)
}

// Unnoticed reports whether there is a Deployment that was just written and of which the Deployment controller has not taken note: its
// word comes within moments, and the status is written then rather than twice.
func Unnoticed(there *cluster.Snapshot) bool {
	for key, object := range there.Objects {
		if key.Group != appsv1.GroupName || key.Kind != "Deployment" {
			continue
		}
		if deployment := kube.As[appsv1.Deployment](object); deployment != nil && deployment.Status.ObservedGeneration < deployment.Generation {
			return true
		}
	}
	return false
}

func counters(out *v1.AppServiceStatus, workload *appsv1.Deployment) {
	if workload == nil {
		out.Replicas, out.UpdatedReplicas, out.ReadyReplicas, out.AvailableReplicas, out.UnavailableReplicas = 0, 0, 0, 0, 0
		out.Readiness, out.Selector, out.Image = "", "", ""
		return
	}
	have := workload.Status
	out.Replicas, out.UpdatedReplicas = have.Replicas, have.UpdatedReplicas
	out.ReadyReplicas, out.AvailableReplicas, out.UnavailableReplicas = have.ReadyReplicas, have.AvailableReplicas, have.UnavailableReplicas
	out.Readiness = fmt.Sprintf("%d/%d", have.ReadyReplicas, wanted(workload))
	if selector, err := metav1.LabelSelectorAsSelector(workload.Spec.Selector); err == nil {
		out.Selector = selector.String()
	}
	if containers := workload.Spec.Template.Spec.Containers; len(containers) > 0 {
		out.Image = containers[0].Image
	}
}

func wanted(workload *appsv1.Deployment) int32 {
	if workload.Spec.Replicas == nil {
		return 1
	}
	return *workload.Spec.Replicas
}
