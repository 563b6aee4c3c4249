package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operator-framework/helm-operator-plugins/pkg/annotation"
	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/kube"
)

// records keeps what Helm keeps of a release: a Secret, in Helm's own encoding. It is written once, when the objects are as it
// says (until then, the objects themselves tell what is still to be written), and deleted when the next one is there.
type records struct {
	chart    *chart.Chart // without its templates
	secrets  typedcorev1.SecretsGetter
	client   client.Client
	live     client.Reader
	observer *cluster.Observer
}

// store is Helm's own, for the records of one resource. They belong to it, and each write is noted in the journal.
func (r *records) store(owner client.Object) *driver.Secrets {
	reference := metav1.NewControllerRef(owner, owner.GetObjectKind().GroupVersionKind())
	return driver.NewSecrets(helmclient.NewOwnerRefSecretClient(r.noted(owner), []metav1.OwnerReference{*reference}, nil))
}

func (r *records) noted(owner client.Object) *notedSecrets {
	return &notedSecrets{SecretInterface: r.secrets.Secrets(owner.GetNamespace()), owner: owner, observer: r.observer}
}

// add records a revision as deployed. The error is a NotOursError or a PreviousError where somebody else's release has the
// name, a StaleError where the record is there already.
func (r *records) add(ctx context.Context, task Task, revision int) error {
	now := helmtime.Now()
	description, annotated := "Install complete", (annotation.InstallDescription{}).Name()
	if revision > 1 {
		description, annotated = "Upgrade complete", (annotation.UpgradeDescription{}).Name()
	}
	record := &helmrelease.Release{
		Name:      task.Owner.GetName(),
		Namespace: task.Owner.GetNamespace(),
		Version:   revision,
		Chart:     r.chart,
		Config:    task.Desired.Values,
		Manifest:  task.Desired.Manifest(),
		Labels:    r.labels(task),
		Info: &helmrelease.Info{
			FirstDeployed: helmtime.Time{Time: task.Owner.GetCreationTimestamp().Time},
			LastDeployed:  now,
			Status:        helmrelease.StatusDeployed,
			Description:   cmp.Or(task.Owner.GetAnnotations()[annotated], description),
		},
	}
	secret, err := encode(record)
	if err != nil {
		return fmt.Errorf("cannot encode release %d: %w", revision, err)
	}
	secret.Name = nameOf(task.Owner, revision)
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(task.Owner, task.Owner.GroupVersionKind())}
	_, err = r.noted(task.Owner).Create(ctx, secret, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return r.explainTakenName(ctx, task)
	}
	if err != nil {
		return fmt.Errorf("cannot record release %d: %w", revision, err)
	}
	return nil
}

// mark gives a record another status. The error is a StaleError where the record is gone, a DamagedError where it cannot be decoded.
func (r *records) mark(task Task, revision int, status helmrelease.Status, description string) error {
	store := r.store(task.Owner)
	record, err := read(store, nameOf(task.Owner, revision), revision)
	if err != nil {
		return err
	}
	record.SetStatus(status, description)
	if err := store.Update(nameOf(task.Owner, revision), record); err != nil {
		return fmt.Errorf("cannot mark release %d %s: %w", revision, status, err)
	}
	return nil
}

// retire deletes the records of earlier revisions.
func (r *records) retire(ctx context.Context, task Task, newest int) error {
	for _, record := range task.Snapshot.Records {
		if record.Revision >= newest {
			continue
		}
		if err := r.delete(ctx, task.Owner, record); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) delete(ctx context.Context, owner client.Object, record *cluster.Record) error {
	name := nameOf(owner, record.Revision)
	err := r.secrets.Secrets(owner.GetNamespace()).Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(record.UID))})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete the record of release %d: %w", record.Revision, err)
	}
	secret := kube.Metadata(kube.SecretKind)
	secret.Namespace, secret.Name, secret.UID = owner.GetNamespace(), name, record.UID
	r.observer.Deleted(owner.GetUID(), secret)
	return nil
}

// read decodes a record.
func read(store *driver.Secrets, name string, revision int) (record *helmrelease.Release, err error) {
	defer func() {
		if recover() != nil { // Helm 3.22 does, where the payload cannot be decoded
			err = &DamagedError{Revision: revision, Secret: name}
		}
	}()
	record, err = store.Get(name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, &StaleError{fmt.Errorf("release %d is gone", revision)}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read release %d: %w", revision, err)
	}
	return record, nil
}

func nameOf(owner client.Object, revision int) string {
	return fmt.Sprintf("%s%s.v%d", cluster.RecordPrefix, owner.GetName(), revision)
}

// explainTakenName looks up whose release has the name: the caches show only those that carry our label.
func (r *records) explainTakenName(ctx context.Context, task Task) error {
	if err := r.free(ctx, task); err != nil {
		return err
	}
	return &StaleError{fmt.Errorf("a release of the name is there, the caches do not show it")}
}

// free gives a NotOursError or a PreviousError where a release has the name that is not the resource's own. A record that is,
// and lost the label that it is found by, gets it back.
func (r *records) free(ctx context.Context, task Task) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kube.SecretKind.GroupVersion().WithKind("SecretList"))
	err := r.live.List(ctx, list, client.InNamespace(task.Owner.GetNamespace()),
		client.MatchingLabels{"owner": "helm", "name": task.Owner.GetName()})
	if err != nil {
		return fmt.Errorf("cannot look for release records: %w", err)
	}
	for i := range list.Items {
		record := &list.Items[i]
		record.SetGroupVersionKind(kube.SecretKind)
		switch {
		case !cluster.IsRecord(record):
		case !controls(task.Owner, record):
			return inTheWay(task.Owner, kube.Key{GroupKind: schema.GroupKind{Kind: "Helm release"}, Name: task.Owner.GetName()}, record)
		case record.GetLabels()[v1.LabelManaged] == "":
			patch := []byte(fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, v1.LabelManaged))
			if err := r.client.Patch(ctx, record, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(FieldManager)); err != nil {
				return fmt.Errorf("cannot label the release record %s: %w", record.Name, err)
			}
		}
	}
	return nil
}

// labels are what the record of a release is found and recognised by.
func (r *records) labels(task Task) map[string]string {
	return map[string]string{
		v1.LabelManaged:      "true",
		v1.LabelDigest:       task.Desired.Digest,
		v1.LabelChartVersion: labelValue(r.chart.Metadata.Version),
	}
}

// labelValue makes a chart version fit for a label: build metadata comes after a plus, and a label has 63 characters.
func labelValue(version string) string {
	value := strings.ReplaceAll(version, "+", "_")
	return strings.TrimRight(value[:min(len(value), 63)], "-_.")
}

// skeleton is the chart without its templates: what it renders is known already, and the record stays small.
func skeleton(c *chart.Chart) *chart.Chart {
	metadata := *c.Metadata
	metadata.Dependencies, metadata.KubeVersion = nil, ""
	return &chart.Chart{Metadata: &metadata, Values: c.Values}
}
