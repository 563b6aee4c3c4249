package release

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// check looks for obstacles to creating objects, before anything is written. Objects that exist and are controlled by
// the owner, although the caches do not show them, move from Create to Apply.
func (a *applier) check(ctx context.Context, writes *plan.Plan) (*plan.Plan, error) {
	checked := &plan.Plan{Apply: writes.Apply, Delete: writes.Delete, Terminating: writes.Terminating}
	for _, desired := range writes.Create {
		live, err := a.ours(ctx, desired)
		switch {
		case err != nil:
			return nil, err
		case live == nil:
			checked.Create = append(checked.Create, desired)
		default:
			change, err := a.found(ctx, desired, live)
			if err != nil {
				return nil, err
			}
			checked.Apply = append(checked.Apply, change)
		}
	}
	return checked, nil
}

// ours returns the object that has the name of a rendered one; nil if there is none. The error is a NotOursError or a
// PreviousError if it does not belong to the owner, a StaleError if it is being deleted.
func (a *applier) ours(ctx context.Context, desired *unstructured.Unstructured) (client.Object, error) {
	live := kube.Metadata(desired.GroupVersionKind())
	err := a.live.Get(ctx, client.ObjectKeyFromObject(desired), live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot look for %s: %w", kube.KeyOf(desired), err)
	case !controls(a.owner, live) && !disowned(desired, live) && !left(a.owner, live):
		return nil, inTheWay(a.owner, kube.KeyOf(desired), live)
	case live.DeletionTimestamp != nil:
		return nil, &StaleError{fmt.Errorf("%s is being deleted", kube.KeyOf(desired))}
	}
	return live, nil
}

// found returns the change of an object that the caches do not show. Only its metadata were read. Claim
// templates stay as they are, and what others added to it goes.
func (a *applier) found(ctx context.Context, desired *unstructured.Unstructured,
	live client.Object) (plan.Change, error) {
	traits := kube.TraitsOf(desired.GroupVersionKind().GroupKind())
	if traits.Claims == nil && traits.Exclusive == nil {
		return plan.Change{Desired: desired, Live: live}, nil
	}
	full := identity(live)
	if err := a.live.Get(ctx, client.ObjectKeyFromObject(live), full); err != nil {
		return plan.Change{}, fmt.Errorf("cannot read %s: %w", kube.KeyOf(live), err)
	}
	if full.GetUID() != live.GetUID() {
		return plan.Change{}, &StaleError{fmt.Errorf("%s has changed", kube.KeyOf(live))}
	}
	change := plan.Change{Desired: plan.AsFarAsMutable(desired, full), Live: full}
	if differs := plan.CompareObject(change.Desired, full); differs != nil {
		change.Added = differs.Added
	}
	return change, nil
}

// allLeft extends a PreviousError or a NotOursError to all objects that are in the way of a plan, not only the first.
func (a *applier) allLeft(ctx context.Context, plan *plan.Plan, err error) error {
	first, notOurs := errors.AsType[*NotOursError](err)
	_, previous := errors.AsType[*PreviousError](err)
	if !notOurs && !previous {
		return err
	}
	others, left := []*NotOursError{first}, &PreviousError{}
	for _, desired := range plan.Create {
		_, err := a.ours(ctx, desired)
		if other, is := errors.AsType[*NotOursError](err); is && notOurs && other.Key != first.Key {
			others = append(others, other)
		}
		if one, is := errors.AsType[*PreviousError](err); is {
			left.Left = append(left.Left, one.Left...)
		}
	}
	switch {
	case notOurs:
		return allOf(others)
	case len(left.Left) > 0:
		return left
	}
	return err // they were deleted meanwhile
}

// dryRun checks by a dry run that the API server accepts a plan of several writes. Nothing is written. The write of a
// single object is its own dry run.
func (a *applier) dryRun(ctx context.Context, plan *plan.Plan) error {
	if len(plan.Create)+len(plan.Apply) < 2 {
		return keepsFixed(plan)
	}
	return a.wouldTake(ctx, plan)
}

// keepsFixed returns an error if a plan changes a field that the API server would ignore, or refuse without saying
// what it is.
func keepsFixed(writes *plan.Plan) error {
	for _, change := range writes.Apply {
		if refused := staysHeadless(change); refused != nil {
			return refused
		}
		if refused := plan.KeepsClaims(change.Desired, change.Live); refused != nil {
			return refused
		}
	}
	return nil
}

// wouldTake returns an error if the API server would refuse a plan. Nothing is written.
func (a *applier) wouldTake(ctx context.Context, writes *plan.Plan) error {
	if err := keepsFixed(writes); err != nil {
		return err
	}
	for _, desired := range writes.Create {
		_, live, err := a.create(ctx, desired, client.DryRunAll)
		if err == nil && live != nil {
			var change plan.Change
			if change, err = a.found(ctx, desired, live); err == nil {
				_, err = a.apply(ctx, change, client.DryRunAll)
			}
		}
		if err != nil {
			return err
		}
	}
	for _, change := range writes.Apply {
		if _, err := a.apply(ctx, change, client.DryRunAll); err != nil {
			return err
		}
	}
	return nil
}

// execute writes the plan, stops at the first object that is refused, and returns what it created. Autoscalers are
// created after their workloads are left to them: they may scale as soon as they exist.
func (a *applier) execute(ctx context.Context, plan *plan.Plan) (created []client.Object, err error) {
	var autoscalers []*unstructured.Unstructured
	for _, desired := range plan.Create {
		if scalesOther(desired) {
			autoscalers = append(autoscalers, desired)
		} else if created, err = a.add(ctx, desired, created); err != nil {
			return created, err
		}
	}
	for _, change := range plan.Fill {
		if _, err := a.fill(ctx, change.Desired, change.Live); err != nil {
			return created, err
		}
	}
	for _, change := range plan.Apply {
		if err := a.change(ctx, change); err != nil {
			return created, err
		}
	}
	for _, desired := range autoscalers {
		if created, err = a.add(ctx, desired, created); err != nil {
			return created, err
		}
	}
	for _, object := range plan.Delete {
		if err := a.versioned(ctx, object, func(version string) error { return a.delete(ctx, object, version) }); err != nil {
			return created, err
		}
	}
	return created, nil
}

// add creates an object, and adds it to those created. If it exists after all, it is changed.
func (a *applier) add(ctx context.Context, desired *unstructured.Unstructured,
	created []client.Object) ([]client.Object, error) {
	written, live, err := a.create(ctx, desired)
	switch {
	case err != nil:
	case live != nil:
		var change plan.Change
		if change, err = a.found(ctx, desired, live); err == nil {
			err = a.change(ctx, change)
		}
	default:
		created = append(created, written)
		err = a.handOver(ctx, desired, written)
		if err == nil {
			_, err = a.fill(ctx, desired, written)
		}
	}
	return created, err
}

// change brings an existing object to its rendered state.
func (a *applier) change(ctx context.Context, change plan.Change) error {
	held, err := a.takeOver(ctx, change)
	if err != nil {
		return err
	}
	if held == nil {
		held, err = a.fill(ctx, change.Desired, change.Live)
	}
	if err != nil {
		return err
	}
	if held != nil {
		change.Live = held
	}
	if change.Added {
		if change.Live, err = a.evict(ctx, change); err != nil {
			return err
		}
	}
	written, err := a.apply(ctx, change)
	if err != nil {
		return err
	}
	return a.forgetStart(ctx, change.Desired, written)
}

// create writes an object that does not exist. If it exists after all, and is the owner's, nothing is written and its
// metadata are returned.
func (a *applier) create(ctx context.Context, desired *unstructured.Unstructured,
	options ...client.PatchOption) (written *unstructured.Unstructured, live client.Object, err error) {
	first, err := a.created(desired)
	if err != nil {
		return nil, nil, err
	}
	written, err = a.apply(ctx, plan.Change{Desired: first}, options...)
	if !apierrors.IsConflict(err) {
		return written, nil, err
	}
	if live, lookErr := a.ours(ctx, desired); live != nil || lookErr != nil {
		return nil, live, lookErr
	}
	return nil, nil, err
}

// apply writes one object. The API server refuses with a conflict unless the object exists in the version that was
// compared, or does not exist if it did not then: a decision based on an older state, by this process or another one,
// never overwrites a newer one.
func (a *applier) apply(ctx context.Context, change plan.Change,
	options ...client.PatchOption) (*unstructured.Unstructured, error) {
	body, err := a.bodies(change.Desired)
	if err != nil {
		return nil, err
	}
	written, err := a.send(ctx, change.Desired, body, change.Live, append(options, client.FieldOwner(FieldManager))...)
	if err != nil {
		return nil, a.explain(ctx, change, fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err))
	}
	return written, nil
}

// delete deletes an object, in the given version if it is not empty.
func (a *applier) delete(ctx context.Context, object client.Object, version string) error {
	only := client.Preconditions{UID: ptr.To(object.GetUID())}
	if version != "" {
		only.ResourceVersion = &version
	}
	err := a.session.Delete(ctx, object, only, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(object), err)
	}
	return nil
}

// Delete carries out the deletions of a plan for a resource that is being deleted itself. It writes no record.
func (a *Actor) Delete(ctx context.Context, owner *unstructured.Unstructured, writes *plan.Plan) error {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	_, err := a.applier(session, owner, nil).execute(ctx, &plan.Plan{Delete: writes.Delete})
	return err
}
