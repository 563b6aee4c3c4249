package release

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// Write carries out the plan of a task, and returns the objects that it created. The error is a NotOursError, a
// PreviousError, a RefusedError, a StaleError or the API server's.
func (a *Actor) Write(ctx context.Context, task Task) (created []client.Object, err error) {
	if plan.ActionOf(task.State).Records {
		if err := fits(task); err != nil {
			return nil, err
		}
	}
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	writes := a.applier(session, task.Owner, task.Desired)
	writes.firstVersion = GeneratedVersion(nil, task.Snapshot.Record)
	created, err = a.attempt(ctx, session, writes, task)
	if err != nil && task.First {
		err = writes.takeBack(ctx, task, created, err)
	}
	return created, blame(task, err)
}

// attempt carries out the plan of a task until a write fails.
func (a *Actor) attempt(ctx context.Context, session *livestate.Session, writes *applier,
	task Task) (created []client.Object, err error) {
	if err := a.usesOfOthers(ctx, session, task); err != nil {
		return nil, writes.allLeft(ctx, task.Plan, err)
	}
	if task.Again {
		plan, err := writes.check(ctx, task.Plan)
		if err != nil {
			return nil, writes.allLeft(ctx, task.Plan, err)
		}
		task.Plan = plan
		if task.First {
			if err := a.records(session, task.Owner).free(ctx); err != nil {
				return nil, err
			}
		}
	}
	if plan.ActionOf(task.State).DryRun || task.Again && task.First {
		if err := writes.dryRun(ctx, task.Plan); err != nil {
			return nil, err
		}
	}
	created, err = writes.execute(ctx, task.Plan)
	return created, writes.allLeft(ctx, task.Plan, err)
}

// blame names the template of a malformed object: the chart must not render one, whatever the spec is. A field that the
// kind does not have is one that this cluster does not have: rendering could not find out if it is described late.
func blame(task Task, err error) error {
	var malformed *MalformedError
	if !errors.As(err, &malformed) || task.Desired == nil {
		return err
	}
	if field := malformed.undeclared(); field != "" {
		return &render.TooOldError{Key: malformed.Key, Field: field, Err: err}
	}
	at := ""
	if i := slices.Index(task.Desired.Keys, malformed.Key); i >= 0 && i < len(task.Desired.Sources) {
		at = task.Desired.Sources[i]
	}
	return render.Mistake(task.Chart, at, err)
}

// Mark sets labels of the newest record of a resource. The error is a StaleError if the record is gone or has changed.
func (a *Actor) Mark(ctx context.Context, owner *unstructured.Unstructured, record *livestate.Record,
	labels map[string]string) error {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	return a.records(session, owner).mark(ctx, record, labels)
}

// Record records the release of a task whose objects are as rendered. Created are the objects that the action created:
// they are deleted again if the name of an installed release turns out to belong to another owner. The error is a
// NotOursError, a PreviousError, a StaleError or the API server's. Records of earlier releases are left to Retire.
func (a *Actor) Record(ctx context.Context, task Task, created []client.Object) error {
	session := a.writer.Begin(task.Owner.GetUID())
	defer session.End()
	records, newest := a.records(session, task.Owner), task.Snapshot.Record
	switch {
	case newest == nil:
		err := records.add(ctx, task, task.Snapshot.Records)
		if notOurs := (*NotOursError)(nil); errors.As(err, &notOurs) {
			err = errors.Join(err, a.applier(session, task.Owner, nil).undo(ctx, created))
		}
		return err
	case newest.Digest != task.Desired.Digest:
		return records.add(ctx, task, task.Snapshot.Records)
	case newest.Status != plan.StatusDeployed:
		return records.replace(ctx, task, newest)
	}
	return nil
}

// ReadRecorded returns the release that is recorded. The error is a DamagedError if it cannot be read, a StaleError if
// the record is gone, or the API server's.
func (a *Actor) ReadRecorded(ctx context.Context, owner *unstructured.Unstructured,
	record *livestate.Record) (*Recorded, error) {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	return a.records(session, owner).recorded(ctx, record)
}

// OtherWriter returns who besides the operator changed a field of a live object last, and what helps; empty if that is
// not known.
func (a *Actor) OtherWriter(ctx context.Context, object client.Object, field string) (writer, hint string) {
	if key := kube.KeyOf(object); field == "spec.replicas" && kube.TraitsOf(key.GroupKind).Scales {
		found, err := scalersOf(ctx, a.live, object.GetNamespace(), key)
		if err == nil && len(found) > 0 {
			scaler := kube.Key{GroupKind: autoscalers, Name: found[0].Name}.String()
			return scaler, "delete " + scaler + "; spec.autoscaling scales automatically"
		}
	}
	live := kube.Metadata(object.GetObjectKind().GroupVersionKind())
	if a.live.Get(ctx, client.ObjectKeyFromObject(object), live) != nil {
		return "", ""
	}
	return kube.OtherWriter(live, field), ""
}
