package release

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Adopt takes over the objects of other owners that have the names of objects a plan creates, as the resource
// requests, and returns the remaining plan and the objects taken over. All are judged before the first is written.
// The error is an AdoptionError, a StaleError or the API server's.
//
// If it is interrupted at any point, the next attempt finds the objects taken over as the resource's own, and the
// others unchanged.
func (a *Actor) Adopt(ctx context.Context, task Task) (*plan.Plan, []kube.Key, error) {
	adoption := AdoptionOf(task.Owner)
	if adoption == nil || len(task.Plan.Create) == 0 {
		return task.Plan, nil, nil
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	writes := a.applier(session, task.Owner, task.Desired)
	survey, plan, err := a.prospects(ctx, session, writes, task)
	if err != nil || len(survey.Found) == 0 {
		return plan, nil, err
	}
	taken := make([]kube.Key, 0, len(survey.Found))
	for _, found := range survey.Found {
		if err := writes.take(ctx, found.change); err != nil {
			return nil, taken, err
		}
		taken = append(taken, found.Key)
	}
	return plan, taken, nil
}

// prospects judges all objects that an adoption takes over, and returns the rest of the plan. The error is an
// AdoptionError, a StaleError or the API server's. Nothing is written.
func (a *Actor) prospects(ctx context.Context, session *livestate.Session, writes *applier,
	task Task) (*Survey, *plan.Plan, error) {
	adoption := AdoptionOf(task.Owner)
	survey, err := writes.survey(ctx, adoption, task.Plan.Create, task.Desired.Keys)
	if err != nil {
		return nil, nil, err
	}
	against, err := a.records(session, task.Owner).against(ctx, adoption)
	if err != nil {
		return nil, nil, err
	}
	survey.Against = append(survey.Against, against...)
	if refusals := survey.Refusals(); len(refusals) > 0 {
		return nil, nil, &AdoptionError{refusals}
	}
	if len(survey.Found) == 0 {
		return survey, task.Plan, nil
	}
	plan := task.Plan.Adopting(survey.Keys())
	return survey, plan, writes.wouldTake(ctx, plan)
}

// take makes an object of another owner the resource's. First, the operator becomes its only manager, which changes
// nothing else: a single apply then changes it to the rendered one, with the owner reference, so that a workload rolls
// once at most.
func (a *applier) take(ctx context.Context, change plan.Change) error {
	var applied client.Object
	if kube.TraitsOf(kube.KeyOf(change.Desired).GroupKind).Exclusive == nil {
		tried, err := a.apply(ctx, change, client.DryRunAll)
		if err != nil {
			return err
		}
		applied = tried
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": change.Live.GetUID()},
		{"op": "add", "path": "/metadata/managedFields", "value": kube.SoleManager(change.Live, applied)},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": change.Live.GetResourceVersion()},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err)
	}
	ours := identity(change.Live)
	if err := a.session.PatchForeign(ctx, ours, client.RawPatch(types.JSONPatchType, patch),
		client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err)
	}
	_, err = a.apply(ctx, plan.Change{Desired: change.Desired, Live: ours})
	return err
}
