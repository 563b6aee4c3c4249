package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// Inherit deletes the release records that the record of a task replaces, the oldest first: those left by an earlier
// resource of its kind and name, which are not read, and Helm's records of the adopted release, so that helm uninstall
// does not find it. It runs after the objects and before the record are written: while the record is missing, the
// release is unfinished, and this is repeated. It returns the objects of the adopted release that are not rendered:
// they stay.
func (a *Actor) Inherit(ctx context.Context, task Task) (unrendered []string, err error) {
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	records := a.records(session, task.Owner)
	if _, err := records.inherit(ctx); err != nil {
		return nil, err
	}
	theirs, unrendered, err := records.inheritance(ctx, AdoptionOf(task.Owner), task.Desired.Keys)
	if err != nil || len(theirs) == 0 {
		return nil, err
	}
	return unrendered, records.remove(ctx, theirs)
}

// inherit deletes the release records that an earlier resource of the owner's kind and name left, and reports whether
// there were any.
func (r *records) inherit(ctx context.Context) (some bool, err error) {
	orphans, err := r.others(ctx, r.owner.GetName(), r.orphaned)
	if err != nil {
		return false, err
	}
	return len(orphans) > 0, r.remove(ctx, orphans)
}

// inheritance returns Helm's records of the adopted release, and those of its objects that are not rendered; nothing if
// none of them is rendered.
func (r *records) inheritance(ctx context.Context, adoption *Adoption,
	rendered []kube.Key) (theirs []*metav1.PartialObjectMetadata, unrendered []string, err error) {
	if adoption == nil || adoption.Release == "" {
		return nil, nil, nil
	}
	theirs, err = r.others(ctx, adoption.Release, r.helms)
	if err != nil || len(theirs) == 0 {
		return nil, nil, err
	}
	taken, unrendered, err := r.partsOf(ctx, theirs[len(theirs)-1], rendered)
	if err != nil || !taken {
		return nil, nil, err
	}
	return theirs, unrendered, nil
}

// against returns the objections of records to an adoption: Helm is working on the release, or the owner's record would
// have the name of a release that is not adopted.
func (r *records) against(ctx context.Context, adoption *Adoption) ([]string, error) {
	var list []string
	if adoption.Release != "" {
		theirs, err := r.others(ctx, adoption.Release, r.helms)
		if err != nil {
			return nil, err
		}
		if len(theirs) > 0 {
			status := theirs[len(theirs)-1].Labels["status"]
			if strings.HasPrefix(status, "pending-") || status == "uninstalling" {
				list = append(list, fmt.Sprintf("Helm release %q is %s: wait until Helm is done, or roll it back",
					adoption.Release, status))
			}
		}
	}
	_, err := r.strangers(ctx)
	if notOurs := (*NotOursError)(nil); errors.As(err, &notOurs) {
		return append(list, fmt.Sprintf("Helm release %q has the name of the %s: name it by annotation %s, or choose another name", notOurs.Key.Name, r.owner.GetKind(), v1.AnnotationAdoptRelease)), nil
	}
	return list, err
}

// others returns the records of a release that have no controller and match a predicate, the oldest first.
func (r *records) others(ctx context.Context, release string,
	sort func(*metav1.PartialObjectMetadata) bool) ([]*metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kube.SecretKind.GroupVersion().WithKind("SecretList"))
	err := r.live.List(ctx, list, client.InNamespace(r.owner.GetNamespace()),
		client.MatchingLabels{"owner": "helm", "name": release})
	if err != nil {
		return nil, fmt.Errorf("cannot look for release records: %w", err)
	}
	var found []*metav1.PartialObjectMetadata
	for i := range list.Items {
		record := &list.Items[i]
		record.SetGroupVersionKind(kube.SecretKind)
		if livestate.IsRecord(record) && metav1.GetControllerOfNoCopy(record) == nil && sort(record) {
			found = append(found, record)
		}
	}
	slices.SortFunc(found, func(a, b *metav1.PartialObjectMetadata) int { return revisionOf(a) - revisionOf(b) })
	return found, nil
}

func revisionOf(record client.Object) int {
	revision, _ := strconv.Atoi(record.GetLabels()["version"]) // a record without a version comes first
	return revision
}

// partsOf reports whether any object of a recorded release is among rendered ones, and names those that are not.
func (r *records) partsOf(ctx context.Context, record *metav1.PartialObjectMetadata,
	rendered []kube.Key) (taken bool, others []string, err error) {
	objects, err := r.manifest(ctx, record.Name, record.UID, revisionOf(record))
	if err != nil {
		return false, nil, err
	}
	for _, object := range objects {
		here := object.GetNamespace() == "" || object.GetNamespace() == r.owner.GetNamespace()
		if here && slices.Contains(rendered, kube.KeyOf(object)) {
			taken = true
			continue
		}
		others = append(others, kube.KeyOf(object).String())
	}
	return taken, others, nil
}

func (r *records) remove(ctx context.Context, list []*metav1.PartialObjectMetadata) error {
	for _, record := range list {
		if err := r.session.DeleteRecord(ctx, record.Namespace, record.Name, record.UID); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete the release record %s: %w", record.Name, err)
		}
	}
	return nil
}
