package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
)

// decide tells what there is to do. Only where that is something, or objects have changed, is all that is desired looked at.
func (r *Reconciler) decide(ctx context.Context, p *pass) error {
	p.plan = &release.Plan{}
	p.state = release.Decide(p.outline.Digest, p.snapshot.Record, p.plan)
	if p.state == release.InSync && p.memory.asBefore(p.snapshot.Objects) {
		return nil
	}
	if err := r.whole(ctx, p); err != nil {
		return err
	}
	p.plan = release.Compare(p.desired.Objects, p.snapshot.Objects)
	for _, held := range p.held {
		p.plan.HoldBack(held.Key)
	}
	p.state = release.Decide(p.outline.Digest, p.snapshot.Record, p.plan)
	if p.plan.Empty() && len(p.plan.Going) == 0 && len(p.held) == 0 {
		r.Observer.Verified(p.resource.GetUID(), p.snapshot)
		p.memory.found(p.snapshot.Objects)
	}
	return nil
}

// act carries out the action of the state and looks again.
func (r *Reconciler) act(ctx context.Context, p *pass) error {
	if p.state == release.InSync {
		return nil
	}
	if err := r.alive(ctx, p); err != nil {
		return err
	}
	if err := r.hold(ctx, p); err != nil {
		return err
	}
	act := r.Actor.Write
	if !p.unwritten() {
		act = r.Actor.Record
	}
	task := release.Task{Owner: p.resource, Desired: p.desired, Snapshot: p.snapshot, Plan: p.plan, State: p.state, Again: p.memory.failure.attempts > 0}
	err := act(ctx, task)
	snapshot, lookErr := r.Observer.Snapshot(ctx, p.resource)
	if lookErr == nil {
		p.snapshot = snapshot
	}
	return errors.Join(err, lookErr)
}

// alive asks the API server whether the resource is still there before anything is created for it anew. Objects that the garbage
// collector deletes with a resource may be seen to be missing before the resource is.
func (r *Reconciler) alive(ctx context.Context, p *pass) error {
	if len(p.plan.Create) == 0 || p.state == release.Absent {
		return nil
	}
	live := kube.Metadata(r.Kind)
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(p.resource), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != p.resource.GetUID() || live.DeletionTimestamp != nil):
		return &release.StaleError{Err: errors.New("the resource is gone")}
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	return nil
}
