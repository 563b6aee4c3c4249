// Package status sums up a resource: from the resource, what is there and what went wrong it makes the whole status. It
// is pure: it reads and writes no cluster, and the same input gives the same status to the byte.
package status

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/gateway"
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
	// Digest of what is rendered; empty if it cannot be rendered.
	Digest string
	// Rendered objects, those that the cluster does not serve excepted; nil if nothing can be rendered.
	Rendered []kube.Key
	// Problem that kept the operator from bringing the objects to what is rendered; nil if they are as rendered.
	Problem *Problem
	// Unserved are rendered objects that were left out because the cluster does not serve their kind.
	Unserved []kube.Key
	// Unknown are the paths of fields of the spec that have no effect, because the operator does not know them.
	Unknown []string
	// Defaults are the fields that the spec left to them.
	Defaults []v1.DefaultsStatus
	// Causes are why objects are not as desired, by object, the worst first.
	Causes map[kube.Key][]diagnose.Cause
	// Missing are references to what does not exist, though pods start without it.
	Missing []dependency.Reference
	// Others are the names of what exists instead of what is missing.
	Others map[dependency.Object][]string
	// Gateways are those that routes attach to, as far as they are known.
	Gateways gateway.Gateways
	// Waits says why a new chart or operator, or a change of defaults, does not change the resource yet; zero if nothing waits.
	Waits Waits
	// NextAttempt is when what failed is tried again, if time is all that may end it; zero if not.
	NextAttempt time.Time
	// Undeleted is why the resource could not be deleted, whose time is over; nil if it was not tried.
	Undeleted error
	// Paused says that the operator leaves everything as it is.
	Paused bool
	// Now is the time of conditions that change.
	Now metav1.Time
}

// Waits is why something new does not change a resource yet.
type Waits struct {
	// Message says it, Short in a few words.
	Message, Short string
	// Hint says what to do; empty if it is for the platform team to decide.
	Hint string
}

// Problem is what stands in the way.
type Problem struct {
	// Reason of the conditions Ready and, if it is blocked, Stalled.
	Reason string
	// Message is one line, cause first.
	Message string
	// Parts say one by one what the message sums up; empty if that is all.
	Parts []string
	// Hint says what to do; empty for what the reason says already.
	Hint string
	// Blocked says that nothing moves without help; otherwise trying again may do.
	Blocked bool
}

// Summarize makes the status. It returns, too, when it has to be made again although nothing changes; zero if there is no such time.
func Summarize(in Input) (*v1.AppServiceStatus, time.Time) {
	out := in.Previous.DeepCopy()
	out.ObservedGeneration = in.Resource.GetGeneration()
	main := mainObject(in.Resource, in.Snapshot)
	counters(out, main)
	endpoints(out, in)
	list := standings(in)
	resources(out, in, list)
	if record := in.Snapshot.Record; record != nil {
		out.Release = &v1.ReleaseStatus{
			Revision: record.Revision, ChartVersion: record.Chart, ChartDigest: cluster.ShortDigest(record.ChartDigest), Digest: record.Digest,
		}
	} else if len(in.Snapshot.Objects) == 0 { // else its record is lost: the objects still belong to it
		out.Release = nil
	}
	out.Defaults = in.Defaults
	out.NextAttemptTime, out.ExpirationTime = nextAttempt(in), expirationTime(in)
	verdict := heldBack(in, judge(in, list))
	out.Problems = problems(in, list, main, verdict)
	out.NeverReady = neverReady(in, list)
	out.Phase = verdict.phase(in.Previous.Phase)
	for _, condition := range conditions(in, main, verdict) {
		condition.ObservedGeneration = out.ObservedGeneration
		condition.LastTransitionTime = in.Now
		condition.Message = OneLine(condition.Message)
		meta.SetStatusCondition(&out.Conditions, condition)
	}
	damp(in, out, verdict)
	return out, earlier(until(list), nextOfLife(in))
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

// mainObject returns the live workload that a resource is about; nil if there is none.
func mainObject(resource *unstructured.Unstructured, snapshot *cluster.Snapshot) client.Object {
	main, found := mainOf(resource.GetName(), slices.Collect(maps.Keys(snapshot.Objects)))
	if !found {
		return nil
	}
	return snapshot.Objects[main]
}

// Unnoticed reports whether there is a workload that was just written and of which its controller has not taken note: its word comes within
// moments, and the status is written then rather than twice.
func Unnoticed(there *cluster.Snapshot) bool {
	for _, object := range there.Objects {
		if workload, makesPods := diagnose.WorkloadOf(object); makesPods && !workload.Noticed {
			return true
		}
	}
	return false
}
