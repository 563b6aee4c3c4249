package plan

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// CompareLastGood makes the plan that keeps the objects of a recorded release as they are while another release is
// refused or waits, and reports whether it is complete. Objects that have its stamp and were edited are restored.
// Missing ones are created, unless another release was applied since. Objects with another stamp were written by that
// one, and objects that are not part of the recorded one may belong to it. No Job is created: it would run again.
func CompareLastGood(recorded []*unstructured.Unstructured,
	existing map[kube.Key]client.Object) (plan *Plan, complete bool) {
	plan = Compare(recorded, existing)
	all := len(plan.Create) + len(plan.Apply) + len(plan.Delete)
	newer := superseded(recorded, existing)
	plan.Create = slices.DeleteFunc(plan.Create,
		func(o *unstructured.Unstructured) bool { return newer || kube.KeyOf(o).GroupKind == job })
	plan.Apply = slices.DeleteFunc(plan.Apply, func(c Change) bool {
		return StampOf(c.Live) != StampOf(c.Desired) || c.Field == "" // replicas that the other release hands over
	})
	plan.Delete = nil
	return plan, len(plan.Create)+len(plan.Apply) == all
}

// CompareReturned makes the plan that leads to a recorded release that was applied again after another one failed: it
// was recorded before it was written, so objects with other stamps are still to be written. It reports whether the plan
// is complete. No Job is created: it would run again. Objects with data of the failed one stay.
func CompareReturned(recorded []*unstructured.Unstructured,
	existing map[kube.Key]client.Object) (plan *Plan, complete bool) {
	plan = Compare(recorded, existing)
	all := len(plan.Create)
	plan.Create = slices.DeleteFunc(plan.Create,
		func(o *unstructured.Unstructured) bool { return kube.KeyOf(o).GroupKind == job })
	plan.KeepData()
	return plan, len(plan.Create) == all
}

// CompareRestarted makes the plan that leads from the objects of a recorded release to those of the same release with
// other annotations of pods. Objects with another stamp were written by another release.
func CompareRestarted(recorded, restarted []*unstructured.Unstructured, existing map[kube.Key]client.Object) *Plan {
	plan := &Plan{}
	stamps := map[kube.Key]string{}
	for _, object := range recorded {
		stamps[kube.KeyOf(object)] = StampOf(object)
	}
	for _, change := range Compare(restarted, existing).Apply {
		if before := stamps[kube.KeyOf(change.Desired)]; before == StampOf(change.Live) && before != StampOf(change.Desired) {
			plan.Apply = append(plan.Apply, change)
		}
	}
	return plan
}

// superseded reports whether any object has another stamp than the recorded release gave it: then another release was
// applied since, even if only in part. Writes of a release before it changes anything that runs do not count.
func superseded(recorded []*unstructured.Unstructured, existing map[kube.Key]client.Object) bool {
	stamps := make(map[kube.Key]string, len(recorded))
	for _, object := range recorded {
		stamps[kube.KeyOf(object)] = StampOf(object)
	}
	for key, live := range existing {
		stamp, known := stamps[key]
		// left by a release before
		former := !known && (live.GetDeletionTimestamp() != nil || kube.RetainedFor(live) != "" || HoldsData(live))
		of := stage.Of(live)
		ahead := of == stage.Before || of == stage.Early && !known
		if !former && !ahead && !jobs.RunsOnce(live) && StampOf(live) != stamp {
			return true
		}
	}
	return false
}

// Compare makes the plan that leads from the live objects to the rendered ones. Fields that others added to an object
// stay, except in pod templates: only rendered fields are compared.
func Compare(rendered []*unstructured.Unstructured, existing map[kube.Key]client.Object) *Plan {
	return Verified{}.Compare(rendered, existing)
}

// Compare makes the same plan as the function Compare, but skips objects that were verified and are rendered as they
// were then.
func (v Verified) Compare(rendered []*unstructured.Unstructured, existing map[kube.Key]client.Object) *Plan {
	plan := &Plan{}
	wanted := make(map[kube.Key]bool, len(rendered))
	for _, desired := range withClaims(rendered, existing) {
		key := kube.KeyOf(desired)
		wanted[key] = true
		if jobs.RunsOnce(desired) {
			continue // it is made and deleted by its own rules
		}
		live, found := existing[key]
		if !found {
			plan.Create = append(plan.Create, desired)
			continue
		}
		if live.GetDeletionTimestamp() != nil {
			plan.Terminating = append(plan.Terminating, live)
			continue
		}
		if v.same(key, desired, live) {
			continue
		}
		if change := CompareObject(withInvited(AsFarAsMutable(desired, live), live), live); change != nil {
			// what was added to an object that was verified is what admission adds
			change.Added = change.Added && !v.saw(key, live)
			plan.Apply = append(plan.Apply, *change)
		}
	}
	for key, live := range existing {
		if !wanted[key] && live.GetDeletionTimestamp() == nil && kube.RetainedFor(live) == "" && !jobs.RunsOnce(live) {
			plan.Delete = append(plan.Delete, live)
		}
	}
	slices.SortStableFunc(plan.Create, func(a, b *unstructured.Unstructured) int { return turn(a) - turn(b) })
	slices.SortStableFunc(plan.Apply, func(a, b Change) int { return turn(a.Desired) - turn(b.Desired) })
	slices.SortFunc(plan.Delete, func(a, b client.Object) int { return kube.KeyOf(a).Compare(kube.KeyOf(b)) })
	return plan
}

// turn returns when an object is written.
func turn(object *unstructured.Unstructured) int {
	if kube.TraitsOf(object.GroupVersionKind().GroupKind()).First {
		return 0
	}
	return 1
}

// job is the kind of objects that run once.
var job = schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}
