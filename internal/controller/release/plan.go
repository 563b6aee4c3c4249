package release

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/jobs"
	"github.com/example/appservice-operator/internal/kube/stage"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// Plan is the set of writes after which the objects of a resource are as rendered. Every action carries out a plan;
// the empty plan writes nothing.
type Plan struct {
	// Create are rendered objects that do not exist.
	Create []*unstructured.Unstructured
	// Apply are rendered objects whose live state differs.
	Apply []Change
	// Delete are objects of the resource that are no longer rendered.
	Delete []client.Object
	// Terminating are rendered objects that were deleted and still exist, held by finalizers. They are left alone until
	// they are gone; then they are missing.
	Terminating []client.Object
	// Fill are Secrets that only get missing values.
	Fill []Change
	// Adopted are rendered objects that others created and that were taken over.
	Adopted []kube.Key
}

// Adopting returns the plan with objects marked as taken over that it would have created.
func (p *Plan) Adopting(keys []kube.Key) *Plan {
	out := *p
	out.Create = slices.DeleteFunc(slices.Clone(p.Create),
		func(o *unstructured.Unstructured) bool { return slices.Contains(keys, kube.KeyOf(o)) })
	out.Adopted = keys
	return &out
}

// Empty reports whether nothing has to be written.
func (p *Plan) Empty() bool { return len(p.Create)+len(p.Apply)+len(p.Fill)+len(p.Delete) == 0 }

// OnlyDeletes reports whether nothing has to be created or changed.
func (p *Plan) OnlyDeletes() bool { return len(p.Create)+len(p.Apply) == 0 }

// RollsPods reports whether the plan changes, or may change, the template of existing pods, or deletes their workload.
func (p *Plan) RollsPods() bool {
	return slices.ContainsFunc(p.Apply, func(c Change) bool { return c.rolling != stays }) ||
		slices.ContainsFunc(p.Delete, func(o client.Object) bool { return templateOfRunning(o) != nil })
}

// MakesPods reports whether the plan creates a workload, or scales one up that has no replicas.
func (p *Plan) MakesPods() bool {
	return slices.ContainsFunc(p.Create, func(o *unstructured.Unstructured) bool { return templateOfRunning(o) != nil }) ||
		slices.ContainsFunc(p.Apply, Change.scalesFromZero)
}

// OnlyRestarts reports whether the plan only restarts pods: someone asked for it, or content that they take
// has changed.
func (p *Plan) OnlyRestarts() bool {
	return len(p.Create)+len(p.Delete) == 0 &&
		!slices.ContainsFunc(p.Apply, func(c Change) bool { return !c.onlyRestarts() })
}

// Awaits names the objects that have to be gone before they can be created again; empty if there are none.
func (p *Plan) Awaits() string {
	var parts []string
	for _, object := range p.Terminating {
		part := kube.KeyOf(object).String()
		if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
			part += " (blocked by finalizer " + strings.Join(finalizers, ", ") + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "waiting for deletion to finish before recreating: " + strings.Join(parts, "; ")
}

// String lists the writes, for example "create Service web; apply Deployment web: spec.replicas 1 → 2".
func (p *Plan) String() string {
	var parts []string
	for _, key := range p.Adopted {
		parts = append(parts, "adopt "+key.String())
	}
	for _, object := range p.Create {
		parts = append(parts, "create "+kube.KeyOf(object).String())
	}
	for _, change := range p.Apply {
		parts = append(parts, "apply "+change.String())
	}
	for _, object := range p.Delete {
		parts = append(parts, "delete "+kube.KeyOf(object).String())
	}
	return strings.Join(parts, "; ")
}

// Repairs returns the fields that a plan of repairs restores, by object, for example "Deployment web: spec.replicas";
// the object alone stands for one that is created.
func (p *Plan) Repairs() map[kube.Key]string {
	repairs := make(map[kube.Key]string, len(p.Create)+len(p.Apply))
	for _, object := range p.Create {
		repairs[kube.KeyOf(object)] = kube.KeyOf(object).String()
	}
	for _, change := range p.Apply {
		key := kube.KeyOf(change.Desired)
		repairs[key] = strings.TrimSuffix(key.String()+": "+change.Field, ": ")
	}
	return repairs
}

// HoldBack removes objects from the plan.
func (p *Plan) HoldBack(keys ...kube.Key) {
	p.Create = slices.DeleteFunc(p.Create,
		func(o *unstructured.Unstructured) bool { return slices.Contains(keys, kube.KeyOf(o)) })
	p.Apply = slices.DeleteFunc(p.Apply, func(c Change) bool { return slices.Contains(keys, kube.KeyOf(c.Desired)) })
	p.Delete = slices.DeleteFunc(p.Delete, func(o client.Object) bool { return slices.Contains(keys, kube.KeyOf(o)) })
}

// Only returns the part of the plan that creates or applies some objects, and creates others or adds missing values.
func (p *Plan) Only(write, create []kube.Key) *Plan {
	out := &Plan{}
	for _, object := range p.Create {
		if key := kube.KeyOf(object); slices.Contains(write, key) || slices.Contains(create, key) {
			out.Create = append(out.Create, object)
		}
	}
	for _, change := range p.Apply {
		switch key := kube.KeyOf(change.Desired); {
		case slices.Contains(write, key):
			out.Apply = append(out.Apply, change)
		case slices.Contains(create, key) && change.fills:
			out.Fill = append(out.Fill, change)
		}
	}
	return out
}

// Touches reports whether the plan writes an object, or waits until it is gone.
func (p *Plan) Touches(key kube.Key) bool {
	return slices.ContainsFunc(p.Create, func(o *unstructured.Unstructured) bool { return kube.KeyOf(o) == key }) ||
		slices.ContainsFunc(p.Apply, func(c Change) bool { return kube.KeyOf(c.Desired) == key }) ||
		slices.ContainsFunc(p.Terminating, func(o client.Object) bool { return kube.KeyOf(o) == key })
}

// CompareLastGood makes the plan that keeps the objects of a recorded release as they are while another release is
// refused or waits, and reports whether it is complete. Objects that have its stamp and were edited are restored.
// Missing ones are created, unless another release was applied since. Objects with another stamp were written by that
// one, and objects that are not part of the recorded one may belong to it. No Job is created: it would run again.
func CompareLastGood(recorded []*unstructured.Unstructured,
	there map[kube.Key]client.Object) (plan *Plan, complete bool) {
	plan = Compare(recorded, there)
	all := len(plan.Create) + len(plan.Apply) + len(plan.Delete)
	newer := superseded(recorded, there)
	plan.Create = slices.DeleteFunc(plan.Create,
		func(o *unstructured.Unstructured) bool { return newer || kube.KeyOf(o).GroupKind == job })
	plan.Apply = slices.DeleteFunc(plan.Apply, func(c Change) bool {
		return stampOf(c.Live) != stampOf(c.Desired) || c.Field == "" // replicas that the other release hands over
	})
	plan.Delete = nil
	return plan, len(plan.Create)+len(plan.Apply) == all
}

// CompareReturned makes the plan that leads to a recorded release that was applied again after another one failed: it
// was recorded before it was written, so objects with other stamps are still to be written. It reports whether the plan
// is complete. No Job is created: it would run again. Objects with data of the failed one stay.
func CompareReturned(recorded []*unstructured.Unstructured,
	there map[kube.Key]client.Object) (plan *Plan, complete bool) {
	plan = Compare(recorded, there)
	all := len(plan.Create)
	plan.Create = slices.DeleteFunc(plan.Create,
		func(o *unstructured.Unstructured) bool { return kube.KeyOf(o).GroupKind == job })
	plan.KeepData()
	return plan, len(plan.Create) == all
}

// Restamps reports whether a plan changes objects that another release applied.
func (p *Plan) Restamps() bool {
	return slices.ContainsFunc(p.Apply, func(c Change) bool { return stampOf(c.Live) != stampOf(c.Desired) })
}

// job is the kind of objects that run once.
var job = schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}

// superseded reports whether any object has another stamp than the recorded release gave it: then another release was
// applied since, even if only in part. Writes of a release before it changes anything that runs do not count.
func superseded(recorded []*unstructured.Unstructured, there map[kube.Key]client.Object) bool {
	stamps := make(map[kube.Key]string, len(recorded))
	for _, object := range recorded {
		stamps[kube.KeyOf(object)] = stampOf(object)
	}
	for key, live := range there {
		stamp, known := stamps[key]
		// left by a release before
		former := !known && (live.GetDeletionTimestamp() != nil || kube.RetainedFor(live) != "" || holdsData(live))
		of := stage.Of(live)
		ahead := of == stage.Before || of == stage.Early && !known
		if !former && !ahead && !jobs.Asks(live) && stampOf(live) != stamp {
			return true
		}
	}
	return false
}

// CompareRestarted makes the plan that leads from the objects of a recorded release to those of the same release with
// other annotations of pods. Objects with another stamp were written by another release.
func CompareRestarted(recorded, restarted []*unstructured.Unstructured, there map[kube.Key]client.Object) *Plan {
	plan := &Plan{}
	stamps := map[kube.Key]string{}
	for _, object := range recorded {
		stamps[kube.KeyOf(object)] = stampOf(object)
	}
	for _, change := range Compare(restarted, there).Apply {
		if before := stamps[kube.KeyOf(change.Desired)]; before == stampOf(change.Live) && before != stampOf(change.Desired) {
			plan.Apply = append(plan.Apply, change)
		}
	}
	return plan
}

// SameStamp reports whether a live object, nil if there is none, is as it is rendered.
func SameStamp(rendered, live client.Object) bool {
	return live != nil && stampOf(rendered) == stampOf(live)
}

func stampOf(object client.Object) string { return object.GetAnnotations()[hooks.AnnotationStamp] }

// Compare makes the plan that leads from the live objects to the rendered ones. Fields that others added to an object
// stay, except in pod templates: only rendered fields are compared.
func Compare(rendered []*unstructured.Unstructured, there map[kube.Key]client.Object) *Plan {
	return Verified{}.Compare(rendered, there)
}

// Compare makes the same plan as the function Compare, but skips objects that were verified and are rendered as they
// were then.
func (v Verified) Compare(rendered []*unstructured.Unstructured, there map[kube.Key]client.Object) *Plan {
	plan := &Plan{}
	wanted := make(map[kube.Key]bool, len(rendered))
	for _, desired := range withClaims(rendered, there) {
		key := kube.KeyOf(desired)
		wanted[key] = true
		if jobs.Asks(desired) {
			continue // it is made and deleted by its own rules
		}
		live, found := there[key]
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
		if change := compareObject(withChallenges(asFarAsMutable(desired, live), live), live); change != nil {
			// what was added to an object that was verified is what admission adds
			change.added = change.added && !v.saw(key, live)
			plan.Apply = append(plan.Apply, *change)
		}
	}
	for key, live := range there {
		if !wanted[key] && live.GetDeletionTimestamp() == nil && kube.RetainedFor(live) == "" && !jobs.Asks(live) {
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
