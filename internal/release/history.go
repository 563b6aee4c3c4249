package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/kube"
)

// statusSuperseded is the status of a record after which another release was recorded.
const statusSuperseded = string(helmrelease.StatusSuperseded)

// Retirement is what is to be done about the records of earlier releases once the newest one is recorded as deployed.
type Retirement struct {
	// Supersede are to say that another release came after them.
	Supersede []*cluster.Record
	// Delete are more than are kept.
	Delete []*cluster.Record
}

// Empty reports whether there is nothing to do.
func (r Retirement) Empty() bool { return len(r.Supersede)+len(r.Delete) == 0 }

// OfOne reports whether no more is due than one release leaves behind.
func (r Retirement) OfOne() bool { return len(r.Supersede) <= 1 && len(r.Delete) <= 1 }

// RetirementOf returns what is to be done about the records of a resource, the newest first, so that as many as may be kept are left. It
// looks at nothing but them: whatever a crash left undone is due the next time.
func RetirementOf(records []*cluster.Record, keep int) Retirement {
	var due Retirement
	if len(records) == 0 || records[0].Status != statusDeployed {
		return due // one is to be written before
	}
	for i, record := range records[1:] {
		switch {
		case i+1 >= keep:
			due.Delete = append(due.Delete, record)
		case record.Status == statusDeployed:
			due.Supersede = append(due.Supersede, record)
		}
	}
	return due
}

// Retirement returns what is due of the records in a snapshot.
func (a *Actor) Retirement(there *cluster.Snapshot) Retirement {
	return RetirementOf(there.Records, a.keep)
}

// Retire carries out a retirement. The error is a StaleError or the API server's.
func (a *Actor) Retire(ctx context.Context, owner *unstructured.Unstructured, due Retirement) error {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	records := a.records(session, owner)
	for _, record := range due.Supersede {
		if err := records.supersede(ctx, record); err != nil {
			return err
		}
	}
	return records.delete(ctx, due.Delete...)
}

// supersede makes a record say that another release came after it. What it holds from then on is in the record already, so that it need
// not be read.
func (r *records) supersede(ctx context.Context, record *cluster.Record) error {
	patch, err := json.Marshal([]map[string]string{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": record.Version},
		{"op": "replace", "path": "/metadata/labels/status", "value": statusSuperseded},
		{"op": "move", "from": "/data/" + keySuperseded, "path": "/data/" + keyRelease},
	})
	if err != nil {
		return err
	}
	secret := kube.Metadata(kube.SecretKind)
	secret.Namespace, secret.Name = r.owner.GetNamespace(), record.Name
	err = r.session.Patch(ctx, secret, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager))
	switch {
	case apierrors.IsInvalid(err): // it has not: it is large, or an operator wrote it that kept one record
		return r.rewrite(ctx, record)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return &StaleError{fmt.Errorf("the record of release %d is gone or has changed", record.Revision)}
	case err != nil:
		return fmt.Errorf("cannot mark the record of release %d as superseded: %w", record.Revision, err)
	}
	return nil
}

// rewrite reads a record to make it say that another release came after it. One that cannot be read, or changed, is of no use to
// anybody, and goes.
func (r *records) rewrite(ctx context.Context, record *cluster.Record) error {
	secret, err := r.session.Record(ctx, r.owner.GetNamespace(), record.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && secret.UID != record.UID:
		return &StaleError{fmt.Errorf("the record of release %d is gone", record.Revision)}
	case err != nil:
		return fmt.Errorf("cannot read the record of release %d: %w", record.Revision, err)
	}
	payload, err := withStatus(secret.Data[keyRelease], helmrelease.StatusSuperseded)
	if err != nil {
		return r.delete(ctx, record)
	}
	secret.Data[keyRelease], secret.Labels["status"] = payload, statusSuperseded
	delete(secret.Data, keySuperseded)
	err = r.session.UpdateRecord(ctx, secret)
	switch {
	case apierrors.IsInvalid(err):
		return r.delete(ctx, record)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return &StaleError{fmt.Errorf("the record of release %d is gone or has changed", record.Revision)}
	case err != nil:
		return fmt.Errorf("cannot mark the record of release %d as superseded: %w", record.Revision, err)
	}
	return nil
}

// delete deletes records. The error is a StaleError if a name has become another Secret's, which the caches do not show yet.
func (r *records) delete(ctx context.Context, list ...*cluster.Record) error {
	for _, record := range list {
		err := r.session.DeleteRecord(ctx, r.owner.GetNamespace(), record.Name, record.UID)
		switch {
		case apierrors.IsConflict(err):
			return &StaleError{fmt.Errorf("the record of release %d has changed", record.Revision)}
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("cannot delete the record of release %d: %w", record.Revision, err)
		}
	}
	return nil
}

// makeRoom deletes the oldest of former records where a quota of the namespace leaves no room for the next one: what is deployed counts
// for more than what was. The quota takes a moment to notice; the next attempt goes on from there. It returns why there is no room.
func (r *records) makeRoom(ctx context.Context, all []*cluster.Record, why error) error {
	if len(all) == 0 || !kube.IsQuota(why) {
		return why
	}
	if oldest := all[len(all)-1]; oldest.Status == statusSuperseded {
		return errors.Join(why, r.delete(ctx, oldest))
	}
	return why
}
