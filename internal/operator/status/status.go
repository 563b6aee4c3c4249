// Package status summarizes a resource: it computes the whole status from the resource, its objects and what went
// wrong. It is pure: it reads and writes no cluster, and the same input results in the same status to the byte.
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
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// Summarize computes the status. It also returns when that has to be repeated although nothing changes; zero if there
// is no such time.
func Summarize(in Input) (*v1.AppServiceStatus, time.Time) {
	out := in.Previous.DeepCopy()
	out.ObservedGeneration = in.Resource.GetGeneration()
	main := mainObject(in.Resource, in.Snapshot)
	counters(out, main)
	endpoints(out, in)
	list := objectStates(in)
	resources(out, in, list)
	if record := in.Snapshot.Record; record != nil {
		out.Release = &v1.ReleaseStatus{
			Revision: record.Revision, ChartVersion: record.Chart, ChartDigest: livestate.ShortDigest(record.ChartDigest),
			Digest: record.Digest,
		}
	} else if len(in.Snapshot.Objects) == 0 { // else its record is lost: the objects still belong to it
		out.Release = nil
	}
	out.Defaults, out.Policy = in.Defaults, in.Policy
	ends, expiring, again := expiry(in)
	out.NextAttemptTime, out.ExpirationTime = nextAttempt(in), ends
	verdict := verdictOf(in, list)
	if in.Waits.Message != "" && verdict.outcome == running { // nothing else reports that a new version waits
		verdict.message += "; " + in.Waits.Short
	}
	out.Problems = problems(in, list, main, verdict, expiring)
	out.Hosts, out.NeverReady = in.Hosts, false
	out.Phase = verdict.phase(in.Previous.Phase)
	for _, condition := range conditions(in, main, verdict) {
		condition.ObservedGeneration = out.ObservedGeneration
		condition.LastTransitionTime = in.Now
		condition.Message = OneLine(condition.Message)
		meta.SetStatusCondition(&out.Conditions, condition)
	}
	visible(out)
	dampFlapping(in, out, verdict)
	if now, before := out.Release, in.Previous.Release; now != nil && before != nil && now.Revision == before.Revision {
		now.WasReady = !HasRun(out) && (before.WasReady || HasRun(in.Previous))
	}
	for _, one := range list {
		again = earlier(again, one.Until)
	}
	return out, again
}

// nextAttempt returns the time of the next attempt in whole seconds, as statuses are stored, rounded up; nil if there
// is none.
func nextAttempt(in Input) *metav1.Time {
	if in.NextAttempt.IsZero() {
		return nil
	}
	return &metav1.Time{Time: in.NextAttempt.Add(time.Second - 1).Truncate(time.Second)}
}

// mainObject returns the live main workload of a resource; nil if there is none.
func mainObject(resource *unstructured.Unstructured, snapshot *livestate.Snapshot) client.Object {
	main, found := mainOf(resource.GetName(), slices.Collect(maps.Keys(snapshot.Objects)))
	if !found {
		return nil
	}
	return snapshot.Objects[main]
}

// Unnoticed reports whether a workload was just written and its controller has not observed it yet: it will within
// moments, and the status is written then rather than twice.
func Unnoticed(observed *livestate.Snapshot) bool {
	for _, object := range observed.Objects {
		if workload, makesPods := diagnose.WorkloadOf(object); makesPods && !workload.Noticed && !workload.Refused {
			return true
		}
	}
	return false
}
