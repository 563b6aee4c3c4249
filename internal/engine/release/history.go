package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// statusSuperseded is the status of a record after which another release was recorded.
const statusSuperseded = string(helmrelease.StatusSuperseded)

// Retirement is the work due on the records of earlier releases once the newest one is recorded as deployed.
type Retirement struct {
	// Supersede are the records to be marked as superseded.
	Supersede []*livestate.Record
	// Delete are the records beyond those kept.
	Delete []*livestate.Record
}

// Empty reports whether there is nothing to do.
func (r Retirement) Empty() bool { return len(r.Supersede)+len(r.Delete) == 0 }

// OfOne reports whether the work is no more than one release causes.
func (r Retirement) OfOne() bool { return len(r.Supersede) <= 1 && len(r.Delete) <= 1 }

// LastReady returns the record of the newest release that was Ready, of records with the newest first; nil if none is
// known. The newest record says which one was, besides itself; those of earlier operators say it of themselves.
func LastReady(records []*livestate.Record) *livestate.Record {
	if len(records) == 0 {
		return nil
	}
	newest := records[0]
	at := slices.IndexFunc(records, func(r *livestate.Record) bool {
		return newest.Ready || newest.LastReady == "" && r.Ready || newest.LastReady == strconv.Itoa(r.Revision)
	})
	if at < 0 {
		return nil
	}
	return records[at]
}

// RetirementOf returns the work due on the records of a resource, the newest first, so that no more than the given
// number are left, and one to which a release that fails may return; nil for none. It depends on nothing else: work
// that a crash left undone is due the next time.
func RetirementOf(records []*livestate.Record, keep int, ready *livestate.Record) Retirement {
	var due Retirement
	if len(records) == 0 || records[0].Status != plan.StatusDeployed {
		return due // the newest record has to be written before
	}
	for i, record := range records[1:] {
		switch {
		case i+1 >= keep && record != ready:
			due.Delete = append(due.Delete, record)
		case record.Status == plan.StatusDeployed:
			due.Supersede = append(due.Supersede, record)
		}
	}
	return due
}

// Retirement returns the work due on the records in a snapshot. Ready is kept beside them; nil for none.
func (a *Actor) Retirement(observed *livestate.Snapshot, ready *livestate.Record) Retirement {
	return RetirementOf(observed.Records, a.keep, ready)
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

// supersede marks a record as superseded, in its payload, too: Helm reads that. A record that cannot be read, or
// changed, is useless and is deleted.
func (r *records) supersede(ctx context.Context, record *livestate.Record) error {
	secret, err := r.read(ctx, record.Name, record.UID)
	if err != nil {
		return err
	}
	payload, err := withStatus(secret.Data[keyRelease], helmrelease.StatusSuperseded)
	if err != nil {
		return r.delete(ctx, record)
	}
	secret.Data[keyRelease], secret.Labels["status"], secret.ResourceVersion = payload, statusSuperseded, record.Version
	delete(secret.Data, "superseded")      // the same, from an earlier operator
	delete(secret.Labels, v1.LabelRollout) // a rollout that began with it continues with the record after it
	err = r.session.UpdateRecord(ctx, secret)
	if apierrors.IsInvalid(err) {
		return r.delete(ctx, record)
	}
	return recordError(record, err)
}

// delete deletes records. The error is a StaleError if a name belongs to another Secret by now, which the caches do not
// show yet.
func (r *records) delete(ctx context.Context, list ...*livestate.Record) error {
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

// makeRoom deletes the oldest of the former records if a quota of the namespace leaves no room for the next one: the
// record of the deployed release matters more. The quota takes a moment to be updated; the next attempt continues from
// there. It returns why there is no room.
func (r *records) makeRoom(ctx context.Context, all []*livestate.Record, why error) error {
	if len(all) == 0 || !kube.IsQuota(why) {
		return why
	}
	if oldest := all[len(all)-1]; oldest.Status == statusSuperseded && oldest != LastReady(all) {
		return errors.Join(why, r.delete(ctx, oldest))
	}
	return why
}
