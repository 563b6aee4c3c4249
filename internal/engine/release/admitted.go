package release

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// SpareAdmitted removes from a plan the objects that are as admission makes them of the operator's own write, such as
// with the image of a mirror or a sidecar: it would make the same of the next write. Dry runs show that, of each object
// that is rendered as before and differs. Managed fields do not: every writer can put any name there. The error is a
// StaleError if the caches are behind, or the API server's.
func (a *Actor) SpareAdmitted(ctx context.Context, owner *unstructured.Unstructured, writes *plan.Plan) error {
	if len(writes.Apply) == 0 {
		return nil
	}
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	asks := a.applier(session, owner, nil)
	var spared []kube.Key
	for _, change := range writes.Apply {
		if change.Field == "" || change.Fills || plan.StampOf(change.Live) != plan.StampOf(change.Desired) {
			continue
		}
		content, full := kube.Content(change.Live)
		if !full {
			continue
		}
		change.Live = &unstructured.Unstructured{Object: content}
		admitted, err := asks.admitted(ctx, change)
		if err != nil {
			return err
		}
		if admitted {
			spared = append(spared, kube.KeyOf(change.Desired))
		}
	}
	writes.HoldBack(spared...)
	return nil
}

// admitted reports whether an object is as admission makes it of the rendered one: when that is written over it, or
// else when it is created, for admission that changes objects only then. A refusal is no answer.
func (a *applier) admitted(ctx context.Context, change plan.Change) (bool, error) {
	type dryRun func(context.Context, plan.Change) (*unstructured.Unstructured, error)
	for _, try := range []dryRun{a.tried, a.triedCreation} {
		answer, err := try(ctx, change)
		refused := (*plan.RefusedError)(nil)
		switch {
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			return false, &StaleError{errors.New(kube.KeyOf(change.Desired).String() + " has changed")}
		case errors.As(err, &refused), Refused(err):
		case err != nil:
			return false, err
		case plan.CompareObject(plan.AsAnswered(change.Desired, answer), change.Live) == nil:
			return true, nil
		}
	}
	return false, nil
}

// triedCreation returns what a rendered object would be if it was created, by a dry run under another name.
func (a *applier) triedCreation(ctx context.Context, change plan.Change) (*unstructured.Unstructured, error) {
	name := change.Desired.GetName()
	answer := started(change.Desired).DeepCopy()
	answer.SetName("")
	answer.SetGenerateName(name + "-")
	if err := a.session.TryCreate(ctx, answer); err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err)
	}
	answer.SetName(name)
	return answer, nil
}
