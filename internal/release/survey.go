package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
)

// Survey is what an adoption finds, before anything is written.
type Survey struct {
	// Found are objects of others that have the names of rendered ones.
	Found []*Prospect
	// Own are objects of rendered names that are the resource's already.
	Own []kube.Key
	// Missing are rendered objects of which none is there: they would be created.
	Missing []*unstructured.Unstructured
	// Unrendered are the objects of the Helm release that are not rendered, and would stay as they are.
	Unrendered []string
	// Against is what stands against the adoption as a whole.
	Against []string

	adoption *Adoption
}

// Prospect is an object of others that has the name of a rendered one.
type Prospect struct {
	Key kube.Key
	// Owner says whose it is, for example "nobody's".
	Owner string
	// Against is what stands against taking it over, whatever is allowed.
	Against []string
	// Ends say how its pods would restart, or end, field by field: that has to be allowed.
	Ends []string

	change Change
	after  *unstructured.Unstructured // nil if the API server refused, or if it was not asked
}

// Refusals are all that stands against an adoption, in the words of the status; none if it would go well.
func (s *Survey) Refusals() []string {
	var list []string
	for _, found := range s.Found {
		list = append(list, found.Against...)
		for _, end := range found.Ends {
			if !s.adoption.Restart {
				list = append(list, fmt.Sprintf("%s: keep that in the spec, or allow it by annotation %s: \"true\"", end, v1.AnnotationAdoptRestart))
			}
		}
	}
	return append(list, s.Against...)
}

// Ends reports whether pods would restart, or end.
func (s *Survey) Ends() bool {
	return slices.ContainsFunc(s.Found, func(found *Prospect) bool { return len(found.Ends) > 0 })
}

// Keys are those of the objects that were found.
func (s *Survey) Keys() []kube.Key {
	keys := make([]kube.Key, 0, len(s.Found))
	for _, found := range s.Found {
		keys = append(keys, found.Key)
	}
	return keys
}

// Survey says what adoption would do for a resource that asks for it, as Adopt finds it, and writes nothing. The error is a RefusedError if what
// is missing could not be created, or the API server's.
func (a *Actor) Survey(ctx context.Context, task Task) (*Survey, error) {
	adoption := AdoptionOf(task.Owner)
	if adoption == nil {
		return nil, fmt.Errorf("%s %q asks for no adoption by annotation %s", task.Owner.GetKind(), task.Owner.GetName(), v1.AnnotationAdopt)
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	writes, records := a.applier(session, task.Owner, task.Desired), a.records(session, task.Owner)
	survey, err := writes.survey(ctx, adoption, task.Desired.Objects)
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
	return survey, writes.wouldTake(ctx, &Plan{Create: survey.Missing})
}

// survey judges all objects of others that have the names of rendered ones.
func (a *applier) survey(ctx context.Context, adoption *Adoption, rendered []*unstructured.Unstructured) (*Survey, error) {
	survey := &Survey{adoption: adoption}
	for _, desired := range rendered {
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
	return survey, nil
}

// prospect judges the object of others that has the name of a rendered one; nil if there is none, or if it is the owner's.
func (a *applier) prospect(ctx context.Context, adoption *Adoption, desired *unstructured.Unstructured) (found *Prospect, own bool, err error) {
	live, own, err := a.foreign(ctx, adoption, desired)
	found = &Prospect{Key: kube.KeyOf(desired), change: Change{Desired: desired, Live: live}}
	if notOurs := (*NotOursError)(nil); errors.As(err, &notOurs) {
		found.Owner = notOurs.Owner
		found.Against = []string{fmt.Sprintf("%s is %s", notOurs.Key, notOurs.Owner)}
		return found, false, nil
	}
	if err != nil || live == nil {
		return nil, own, err
	}
	found.change.Desired, found.Owner = asFarAsMutable(desired, live), "nobody's"
	if release := live.GetAnnotations()[helmReleaseName]; release != "" {
		found.Owner = fmt.Sprintf("part of Helm release %q", release)
	}
	return found, false, a.judge(ctx, found)
}

// Changes are the fields of the object that would be others, but for those by which the operator knows what is its own.
func (p *Prospect) Changes() []Difference {
	live, _ := p.change.Live.(*unstructured.Unstructured)
	if p.after == nil || live == nil {
		return nil
	}
	after := p.after.DeepCopy()
	after.SetLabels(entries(live.GetLabels(), p.change.Desired.GetLabels()))
	after.SetAnnotations(entries(live.GetAnnotations(), p.change.Desired.GetAnnotations()))
	return Differences(content(live), content(after))
}

// bookkeeping are the labels and annotations by which the operator knows what is its own.
var bookkeeping = []string{v1.LabelManaged, postrender.AnnotationStamp, helmReleaseName, helmReleaseNamespace}

// entries are labels or annotations with others over them.
func entries(beneath, over map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, beneath)
	maps.Copy(all, over)
	return all
}

// content is an object without what the API server and the operator note in it.
func content(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := identity(object)
	for key, value := range object.Object {
		if key != "metadata" && key != "status" {
			out.Object[key] = value
		}
	}
	labels, annotations := entries(object.GetLabels(), nil), entries(object.GetAnnotations(), nil)
	for _, key := range bookkeeping {
		delete(labels, key)
		delete(annotations, key)
	}
	out.SetLabels(labels)
	out.SetAnnotations(annotations)
	return out
}
