package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// records stores what Helm stores of a release of one resource: a Secret, in Helm's own encoding. It is written once,
// when the objects match it (until then, the objects themselves show what is still to be written), marked when the next
// one exists, and deleted when enough others do.
type records struct {
	session *livestate.Session
	live    client.Reader
	owner   *unstructured.Unstructured
}

// read returns the Secret of a record. The error is a StaleError if the record is gone, or is another one by now.
func (r *records) read(ctx context.Context, name string, uid types.UID) (*corev1.Secret, error) {
	secret, err := r.session.Record(ctx, r.owner.GetNamespace(), name)
	switch {
	case apierrors.IsNotFound(err), err == nil && secret.UID != uid:
		return nil, &StaleError{fmt.Errorf("release record %s is gone", name)}
	case err != nil:
		return nil, fmt.Errorf("cannot read release record %s: %w", name, err)
	}
	return secret, nil
}

// recordError explains the result of changing a record.
func recordError(record *livestate.Record, err error) error {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return &StaleError{fmt.Errorf("the record of release %d is gone or has changed", record.Revision)}
	case err != nil:
		return fmt.Errorf("cannot write the record of release %d: %w", record.Revision, err)
	}
	return nil
}

// strangers returns a NotOursError or a PreviousError if a release has the name that is not the resource's own, else
// its records without the label by which records are found.
func (r *records) strangers(ctx context.Context) (unlabeled []*metav1.PartialObjectMetadata, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kube.SecretKind.GroupVersion().WithKind("SecretList"))
	err = r.live.List(ctx, list, client.InNamespace(r.owner.GetNamespace()),
		client.MatchingLabels{"owner": "helm", "name": r.owner.GetName()})
	if err != nil {
		return nil, fmt.Errorf("cannot look for release records: %w", err)
	}
	for i := range list.Items {
		record := &list.Items[i]
		record.SetGroupVersionKind(kube.SecretKind)
		switch {
		case !livestate.IsRecord(record), r.inherits(record):
		case !controls(r.owner, record):
			return nil, inTheWay(r.owner, kube.Key{GroupKind: schema.GroupKind{Kind: "Helm release"},
				Name: r.owner.GetName()}, record)
		case record.GetLabels()[v1.LabelManaged] == "":
			unlabeled = append(unlabeled, record)
		}
	}
	return unlabeled, nil
}

// manifest returns the objects of a record of any operator: those before this one were written by Helm, in YAML.
func (r *records) manifest(ctx context.Context, name string, uid types.UID,
	revision int) ([]*unstructured.Unstructured, error) {
	secret, err := r.read(ctx, name, uid)
	if err != nil {
		return nil, err
	}
	manifest, err := Manifest(secret.Data[keyRelease])
	if err != nil {
		return nil, &DamagedError{Revision: revision, Secret: name, Err: err}
	}
	objects, err := objectsOf(manifest)
	if err != nil {
		return nil, &DamagedError{Revision: revision, Secret: name, Err: err}
	}
	return objects, nil
}

// objectsOf returns the objects of a manifest, whoever wrote it.
func objectsOf(manifest string) (list []*unstructured.Unstructured, err error) {
	for documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096); ; {
		object := &unstructured.Unstructured{}
		switch err := documents.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, errors.New("the manifest is not YAML")
		case object.GetKind() != "": // else it is a document of comments
			list = append(list, object)
		}
	}
}

// inherits reports whether a record of the owner's name is deleted before its own is written.
func (r *records) inherits(record *metav1.PartialObjectMetadata) bool {
	adoption := AdoptionOf(r.owner)
	adopted := adoption != nil && adoption.Release == record.Labels["name"]
	return metav1.GetControllerOfNoCopy(record) == nil && (r.orphaned(record) || adopted && r.helms(record))
}

// helms reports whether a record is Helm's own.
func (r *records) helms(record *metav1.PartialObjectMetadata) bool {
	return record.Labels[v1.LabelManaged] == "" && record.Labels[v1.LabelDigest] == ""
}

// orphaned reports whether a record belongs to an earlier resource of the owner's kind and name.
func (r *records) orphaned(record *metav1.PartialObjectMetadata) bool {
	return record.Labels[v1.LabelManaged] != "" && record.Labels["name"] == r.owner.GetName()
}
