package release

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// Annotations of a resource that describe its releases, as in helm-operator-plugins.
const (
	installDescription = "helm.sdk.operatorframework.io/install-description"
	upgradeDescription = "helm.sdk.operatorframework.io/upgrade-description"
)

// mostSkipped is how many names of records in a row may be those of other Secrets.
const mostSkipped = 10

// add records the revision after former ones, the newest first, as deployed. Revisions are left out whose records have
// the names of Secrets that are not the resource's: whoever may create Secrets would end its releases with one. The
// error is a NotOursError or a PreviousError if the release of another owner has the name, a StaleError if the record
// exists already.
func (r *records) add(ctx context.Context, task Task, former []*livestate.Record) error {
	inherited := false
	for revision := next(former); ; revision++ {
		secret, err := r.secret(task, revision)
		if err != nil {
			return err
		}
		err = r.session.CreateRecord(ctx, secret)
		switch {
		case err == nil:
			return nil
		case !apierrors.IsAlreadyExists(err):
			return r.makeRoom(ctx, former, fmt.Errorf("cannot record release %d: %w", revision, err))
		}
		if len(former) == 0 {
			if err := r.free(ctx); err != nil {
				return err
			}
		}
		if !inherited {
			inherited = true
			if some, err := r.inherit(ctx); err != nil {
				return err
			} else if some {
				revision-- // its name may be free now
				continue
			}
		}
		foreign, err := r.foreign(ctx, secret.Name, revision)
		if err != nil {
			return err
		}
		if revision-next(former) == mostSkipped {
			return foreign
		}
	}
}

// next returns the revision that follows former ones, the newest first.
func next(former []*livestate.Record) int {
	if len(former) == 0 {
		return 1
	}
	return former[0].Revision + 1
}

// replace records the revision of a record that is not deployed as deployed, replacing its content. The error is a
// StaleError if the record is gone or has changed.
func (r *records) replace(ctx context.Context, task Task, record *livestate.Record) error {
	secret, err := r.secret(task, record.Revision)
	if err != nil {
		return err
	}
	secret.Name, secret.UID, secret.ResourceVersion = record.Name, record.UID, record.Version
	return recordError(record, r.session.UpdateRecord(ctx, secret))
}

// secret returns the record of a revision.
func (r *records) secret(task Task, revision int) (*corev1.Secret, error) {
	description, annotated := "Install complete", installDescription
	if revision > 1 {
		description, annotated = "Upgrade complete", upgradeDescription
	}
	labels := map[string]string{
		v1.LabelManaged:      "true",
		v1.LabelDigest:       task.Desired.Digest,
		v1.LabelChartVersion: labelValue(task.Chart.Metadata.Version),
	}
	maps.Copy(labels, task.Labels)
	source := r.source(task)
	if returned := source.Returned; returned != nil {
		description = fmt.Sprintf("Return from release %d to release %d", returned.From, returned.To)
	}
	secret, err := encode(&helmrelease.Release{
		Name:      r.owner.GetName(),
		Namespace: r.owner.GetNamespace(),
		Version:   revision,
		Chart:     skeleton(task.Chart),
		Config:    task.Desired.Values,
		Manifest:  task.Desired.Manifest(),
		Labels:    labels,
		Info: &helmrelease.Info{
			FirstDeployed: helmtime.Time{Time: r.owner.GetCreationTimestamp().Time},
			LastDeployed:  helmtime.Now(),
			Status:        helmrelease.StatusDeployed,
			Description:   cmp.Or(r.owner.GetAnnotations()[annotated], description),
		},
	}, source)
	if err != nil {
		return nil, fmt.Errorf("cannot encode release %d: %w", revision, err)
	}
	secret.Namespace, secret.Name = r.owner.GetNamespace(), livestate.RecordName(r.owner.GetName(), revision)
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(r.owner, r.owner.GroupVersionKind())}
	return secret, nil
}

// source returns the source of the release of a task.
func (r *records) source(task Task) Source {
	if task.Source != nil {
		return *task.Source
	}
	author, changed := kube.ChangedBy(r.owner)
	return Source{
		APIVersion: r.owner.GetAPIVersion(),
		Kind:       r.owner.GetKind(),
		Generation: r.owner.GetGeneration(),
		ChangedBy:  author,
		ChangedAt:  changed,
		Spec:       r.owner.Object["spec"],
		Runs:       task.Runs,
	}
}

// mark sets labels of a record.
func (r *records) mark(ctx context.Context, record *livestate.Record, labels map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": record.UID,
		"resourceVersion": record.Version, "labels": labels}})
	if err != nil {
		return err
	}
	secret := kube.Metadata(kube.SecretKind)
	secret.Namespace, secret.Name = r.owner.GetNamespace(), record.Name
	return recordError(record, r.session.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch),
		client.FieldOwner(FieldManager)))
}

// recorded returns the content of a record. The error is a DamagedError if it cannot be read, a StaleError if the
// record is gone.
func (r *records) recorded(ctx context.Context, record *livestate.Record) (*Recorded, error) {
	name := record.Name
	secret, err := r.read(ctx, name, record.UID)
	if err != nil {
		return nil, err
	}
	content, err := Decode(secret)
	if err != nil {
		return nil, &DamagedError{Revision: record.Revision, Secret: name, Err: err}
	}
	for _, object := range content.Objects {
		if !rendered(r.owner, object) {
			return nil, &DamagedError{Revision: record.Revision, Secret: name,
				Err: fmt.Errorf("%s in it was not rendered for this resource", kube.KeyOf(object))}
		}
	}
	if content.Record = livestate.RecordOf(r.owner, secret); content.Record == nil {
		return nil, &DamagedError{Revision: record.Revision, Secret: name,
			Err: fmt.Errorf("label version is %q", secret.Labels["version"])}
	}
	return content, nil
}

// free returns a NotOursError or a PreviousError if a release has the name that is not the resource's own.
func (r *records) free(ctx context.Context) error {
	unlabeled, err := r.strangers(ctx)
	if err != nil {
		return err
	}
	for _, record := range unlabeled {
		if err := r.label(ctx, record); err != nil {
			return err
		}
	}
	return nil
}

// label gives a record of the resource the label back by which records are found.
func (r *records) label(ctx context.Context, record *metav1.PartialObjectMetadata) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, v1.LabelManaged)
	if err := r.session.Patch(ctx, record, client.RawPatch("application/merge-patch+json", patch),
		client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("cannot label the release record %s: %w", record.Name, err)
	}
	return nil
}

// foreign returns that the Secret with the name of a record is not the resource's. The error is a StaleError if it is,
// or is gone: a record that lost the label by which records are found gets it back. It is a DamagedError if the labels
// do not say that it is this record.
func (r *records) foreign(ctx context.Context, name string, revision int) (*NotOursError, error) {
	secret := kube.Metadata(kube.SecretKind)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: r.owner.GetNamespace(), Name: name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot look for release record %s: %w", name, err)
	}
	if err == nil && (!livestate.IsRecord(secret) || !controls(r.owner, secret)) {
		return &NotOursError{Key: kube.KeyOf(secret),
			Owner: "not a release record of this resource, though it has the name of one"}, nil
	}
	if err == nil && secret.Labels[v1.LabelManaged] == "" {
		if err := r.label(ctx, secret); err != nil {
			return nil, err
		}
	}
	if err == nil && livestate.RecordOf(r.owner, secret) == nil {
		return nil, &DamagedError{Revision: revision, Secret: name,
			Err: fmt.Errorf("label version is %q", secret.Labels["version"])}
	}
	return nil, &StaleError{fmt.Errorf("a release of the name is there, the caches do not show it")}
}

// labelValue converts a chart version to a label value: build metadata comes after a plus, and a label has 63
// characters at most.
func labelValue(version string) string {
	value := strings.ReplaceAll(version, "+", "_")
	return strings.TrimRight(value[:min(len(value), 63)], "-_.")
}

// skeleton returns the chart without its templates: their output is known already, and the record stays small.
func skeleton(c *chart.Chart) *chart.Chart {
	metadata := *c.Metadata
	metadata.Dependencies, metadata.KubeVersion = nil, ""
	return &chart.Chart{Metadata: &metadata, Values: c.Values}
}
