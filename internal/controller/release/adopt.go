package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/livestate"
)

// Adopt takes over the objects of other owners that have the names of objects a plan creates, as the resource
// requests, and returns the remaining plan and the objects taken over. All are judged before the first is written.
// The error is an AdoptionError, a StaleError or the API server's.
//
// If it is interrupted at any point, the next attempt finds the objects taken over as the resource's own, and the
// others unchanged.
func (a *Actor) Adopt(ctx context.Context, task Task) (*Plan, []kube.Key, error) {
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

// prospects judges all objects that an adoption takes over, and returns what is left of the plan. The error is an
// AdoptionError, a StaleError or the API server's. Nothing is written.
func (a *Actor) prospects(ctx context.Context, session *livestate.Session, writes *applier,
	task Task) (*Survey, *Plan, error) {
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

// foreign returns the object of another owner that has the name of a rendered one and may be taken over; nil if none
// exists, or if it is the owner's.
func (a *applier) foreign(ctx context.Context, adoption *Adoption,
	desired *unstructured.Unstructured) (live *unstructured.Unstructured, own bool, err error) {
	live = identity(desired)
	key := kube.KeyOf(desired)
	err = a.live.Get(ctx, client.ObjectKeyFromObject(desired), live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("cannot look for %s: %w", key, err)
	case controls(a.owner, live) || disowned(desired, live) || left(a.owner, live):
		return nil, true, nil
	}
	return live, false, adoption.mayTake(a.owner, key, live)
}

// judge records what an object would become, why it cannot be changed to the rendered one without harm, naming the
// fields, and why its pods would end.
func (a *applier) judge(ctx context.Context, found *Prospect) error {
	if headless := staysHeadless(found.change); headless != nil {
		found.Against = append(found.Against, headless.Error())
	}
	if others := keepsClaims(found.change.Desired, found.change.Live); others != nil {
		found.Against = append(found.Against, others.Error())
		return nil
	}
	after, err := a.tried(ctx, found.change)
	if err == nil {
		found.after, found.Ends = after, ends(found.change, after)
		return nil
	}
	if refused := (*RefusedError)(nil); errors.As(err, &refused) || Refused(err) {
		found.Against = append(found.Against, err.Error())
		return nil
	}
	return err
}

// tried returns the result of a change, by a dry run.
func (a *applier) tried(ctx context.Context, change Change) (*unstructured.Unstructured, error) {
	traits := kube.TraitsOf(kube.KeyOf(change.Desired).GroupKind)
	if traits.Whole == nil {
		return a.apply(ctx, change, client.DryRunAll)
	}
	live, _ := change.Live.(*unstructured.Unstructured)
	after := identity(live)
	err := a.versioned(ctx, live, func(version string) error {
		body, err := replacement(change.Desired, live, version, traits.Whole)
		if err != nil {
			return err
		}
		return a.session.Try(ctx, after, client.RawPatch(types.JSONPatchType, body), client.FieldOwner(FieldManager))
	})
	if err != nil {
		return nil, a.explain(ctx, change, fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err))
	}
	return after, nil
}

// replacement returns the JSON patch that changes an object to what it becomes: rendered fields over those of others,
// and nothing of others in the fields that belong to the operator as a whole, which an apply alone would leave mixed.
func replacement(desired, live *unstructured.Unstructured, version string, whole []string) ([]byte, error) {
	merged, _, _ := unstructured.NestedMap(live.Object, "spec")
	rendered, _, _ := unstructured.NestedMap(desired.Object, "spec")
	annotations, _, _ := unstructured.NestedStringMap(live.Object,
		append(slices.Clone(whole), "metadata", "annotations")...)
	unstructured.RemoveNestedField(merged, whole[1:]...)
	for name, value := range annotations {
		at := append(slices.Clone(whole[1:]), "metadata", "annotations", name)
		if kube.IsRestart(name, value) && unstructured.SetNestedField(merged, value, at...) != nil {
			break // there is no such part
		}
	}
	lay(merged, rendered)
	metadata, _, _ := unstructured.NestedMap(live.Object, "metadata")
	ours, _, _ := unstructured.NestedMap(desired.Object, "metadata")
	lay(metadata, ours)
	return json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": live.GetUID()},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": version},
		{"op": "add", "path": "/metadata/labels", "value": metadata["labels"]},
		{"op": "add", "path": "/metadata/annotations", "value": metadata["annotations"]},
		{"op": "add", "path": "/metadata/ownerReferences", "value": metadata["ownerReferences"]},
		{"op": "replace", "path": "/spec", "value": merged},
	})
}

// lay merges rendered fields over others as a forced apply does.
func lay(over, rendered map[string]any) {
	for key, value := range rendered {
		fields, is := value.(map[string]any)
		beneath, there := over[key].(map[string]any)
		if is && there && !atomicMaps[key] {
			lay(beneath, fields)
			continue
		}
		over[key] = value
	}
}

// ends lists the fields that would change in the pods of a workload, and how many pods would be removed.
func ends(change Change, after *unstructured.Unstructured) (list []string) {
	path := templateOfRunning(change.Desired)
	if path == nil {
		return nil
	}
	live, _ := change.Live.(*unstructured.Unstructured)
	key := kube.KeyOf(live)
	for _, difference := range Differences(only(live, path), only(after, path)) {
		text, _, _ := strings.Cut(difference.Redacted().String(), ";")
		list = append(list, fmt.Sprintf("%s: its pods would restart: %s", key, text))
	}
	have, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if want, rendered, _ := unstructured.NestedInt64(change.Desired.Object, "spec", "replicas"); rendered && want < have {
		list = append(list, fmt.Sprintf("%s: %d of its pods would end: spec.replicas %d → %d", key, have-want, have, want))
	}
	return list
}

// only returns an object that has only the value at a path.
func only(object *unstructured.Unstructured, path []string) *unstructured.Unstructured {
	out := identity(object)
	if value, found, _ := unstructured.NestedFieldCopy(object.Object, path...); found {
		_ = unstructured.SetNestedField(out.Object, value, path...) // out has nothing else
	}
	return out
}

// take makes an object of another owner the resource's. First, the operator becomes its only manager, which changes
// nothing else: a single apply then changes it to the rendered one, with the owner reference, so that a workload rolls
// once at most.
func (a *applier) take(ctx context.Context, change Change) error {
	var applied client.Object
	if kube.TraitsOf(kube.KeyOf(change.Desired).GroupKind).Whole == nil {
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
	_, err = a.apply(ctx, Change{Desired: change.Desired, Live: ours})
	return err
}
