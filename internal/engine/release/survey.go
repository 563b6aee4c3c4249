package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Refusals returns all objections to an adoption, in the words of the status; none if it would succeed.
func (s *Survey) Refusals() []string {
	var list []string
	for _, found := range s.Found {
		list = append(list, found.Against...)
		for _, end := range found.Ends {
			if !s.adoption.Restart {
				list = append(list, fmt.Sprintf("%s: keep that in the spec, or allow it by annotation %s: \"true\"", end,
					v1.AnnotationAdoptRestart))
			}
		}
	}
	return append(list, s.Against...)
}

// Ends reports whether pods would restart, or end.
func (s *Survey) Ends() bool {
	return slices.ContainsFunc(s.Found, func(found *Prospect) bool { return len(found.Ends) > 0 })
}

// Keys returns the keys of the objects found.
func (s *Survey) Keys() []kube.Key {
	keys := make([]kube.Key, 0, len(s.Found))
	for _, found := range s.Found {
		keys = append(keys, found.Key)
	}
	return keys
}

// Survey examines the adoption that a resource requests, as Adopt does, and writes nothing. The error is a RefusedError
// if a missing object could not be created, or the API server's.
func (a *Actor) Survey(ctx context.Context, task Task) (*Survey, error) {
	adoption := AdoptionOf(task.Owner)
	if adoption == nil {
		return nil, fmt.Errorf("%s %q does not request adoption by annotation %s", task.Owner.GetKind(), task.Owner.GetName(),
			v1.AnnotationAdopt)
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	writes, records := a.applier(session, task.Owner, task.Desired), a.records(session, task.Owner)
	survey, err := writes.survey(ctx, adoption, task.Desired.Objects, task.Desired.Keys)
	if err != nil || len(survey.Found) == 0 {
		return survey, err
	}
	against, err := records.against(ctx, adoption)
	if err != nil {
		return nil, err
	}
	survey.Against = append(survey.Against, against...)
	if _, survey.Unrendered, err = records.inheritance(ctx, adoption, task.Desired.Keys); err != nil {
		return survey, err
	}
	return survey, writes.wouldTake(ctx, &plan.Plan{Create: survey.Missing})
}

// survey judges all objects of other owners that have the names of objects to be created, which are among the rendered
// ones.
func (a *applier) survey(ctx context.Context, adoption *Adoption, created []*unstructured.Unstructured,
	rendered []kube.Key) (survey *Survey, err error) {
	survey = &Survey{adoption: adoption}
	for _, desired := range created {
		found, own, err := a.prospect(ctx, adoption, desired)
		switch {
		case err != nil:
			return nil, err
		case own:
			survey.Own = append(survey.Own, kube.KeyOf(desired))
		case found == nil:
			survey.Missing = append(survey.Missing, desired)
		default:
			survey.Found = append(survey.Found, found)
		}
	}
	survey.Against, err = a.conflicts(ctx, survey.Found, rendered)
	return survey, err
}

// prospect judges the object of another owner that has the name of a rendered one; nil if none exists, or if it is the
// owner's.
func (a *applier) prospect(ctx context.Context, adoption *Adoption,
	desired *unstructured.Unstructured) (found *Prospect, own bool, err error) {
	live, own, err := a.foreign(ctx, adoption, desired)
	found = &Prospect{Key: kube.KeyOf(desired), change: plan.Change{Desired: desired, Live: live}}
	if notOurs := (*NotOursError)(nil); errors.As(err, &notOurs) {
		found.Owner = notOurs.Owner
		found.Against = []string{fmt.Sprintf("%s is %s", notOurs.Key, notOurs.Owner)}
		return found, false, nil
	}
	if err != nil || live == nil {
		return nil, own, err
	}
	found.change.Desired, found.Owner = plan.AsFarAsMutable(desired, live), "unowned"
	if release := live.GetAnnotations()[helmReleaseName]; release != "" {
		found.Owner = fmt.Sprintf("part of Helm release %q", release)
	}
	return found, false, a.tryAdoption(ctx, found)
}

// Changes returns the fields of the object that would change, except for the operator's bookkeeping.
func (p *Prospect) Changes() []plan.Difference {
	live, _ := p.change.Live.(*unstructured.Unstructured)
	if p.after == nil || live == nil {
		return nil
	}
	after := p.after.DeepCopy()
	after.SetLabels(labels.Merge(live.GetLabels(), p.change.Desired.GetLabels()))
	after.SetAnnotations(labels.Merge(live.GetAnnotations(), p.change.Desired.GetAnnotations()))
	return plan.Differences(content(live), content(after))
}

// bookkeeping are the labels and annotations by which the operator recognizes its own objects.
var bookkeeping = []string{v1.LabelManaged, postrender.AnnotationStamp, helmReleaseName, helmReleaseNamespace}

// content returns an object without the metadata that the API server and the operator maintain.
func content(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := identity(object)
	for key, value := range object.Object {
		if key != "metadata" && key != "status" {
			out.Object[key] = value
		}
	}
	own, notes := labels.Merge(object.GetLabels(), nil), labels.Merge(object.GetAnnotations(), nil)
	for _, key := range bookkeeping {
		delete(own, key)
		delete(notes, key)
	}
	out.SetLabels(own)
	out.SetAnnotations(notes)
	return out
}

// tryAdoption records what an object would become, why it cannot be changed to the rendered one without harm, naming
// the fields, and why its pods would end.
func (a *applier) tryAdoption(ctx context.Context, found *Prospect) error {
	if headless := staysHeadless(found.change); headless != nil {
		found.Against = append(found.Against, headless.Error())
	}
	if others := plan.KeepsClaims(found.change.Desired, found.change.Live); others != nil {
		found.Against = append(found.Against, others.Error())
		return nil
	}
	after, err := a.tried(ctx, found.change)
	if err == nil {
		found.after, found.Ends = after, ends(found.change, after)
		return nil
	}
	if refused := (*plan.RefusedError)(nil); errors.As(err, &refused) || Refused(err) {
		found.Against = append(found.Against, err.Error())
		return nil
	}
	return err
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
