package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/livestate"
	"github.com/example/appservice-operator/internal/render"
)

// attempt is the attempt of one reconcile to bring a resource to its rendered state: what each step found, did, or
// failed at.
type attempt struct {
	// state of the release that was found; empty if nothing was decided.
	state release.State
	// plan that was carried out; nil if nothing was decided.
	plan *release.Plan
	// changes is a summary in words of what was changed.
	changes string
	// there is the state of the cluster, after what was done.
	there *livestate.Snapshot
	// repaired is the plan that was written to repair the recorded release; nil if there was none.
	repaired *release.Plan
	// resumed says that objects of the recorded release were written that another one had applied since.
	resumed bool
	// hold says why the recorded release is kept for now; the zero value if it is not.
	hold hold
	// contended says that a field is not repaired for now, because another writer changes it each time; nil if there is no
	// such field.
	contended error
	// decayed says why the recorded release is not kept as it is; nil if it is, or if that holds back what waits.
	decayed error
	// reload is the time until changed content restarts the pods of a resource that waits; 0 if it has.
	reload time.Duration
	took   time.Duration
	// err says why the objects are not as rendered.
	err error
}

// acted reports whether anything had to be written.
func (a attempt) acted() bool { return a.state != "" && a.state != release.InSync && !a.waits() }

// released reports whether a new release was made.
func (a attempt) released() bool {
	return !a.waits() && (a.state == release.Absent || a.state == release.OutOfDate)
}

// decays returns the attempt without the error of keeping the recorded release, if its stage before runs: the release
// that waits is about to replace that one.
func (a attempt) decays() attempt {
	if a.hold.by == byStage && a.err != nil && isBlocked(a.err) {
		a.decayed, a.err = cmp.Or(a.decayed, a.err), nil
	}
	return a
}

// act brings objects and record to the rendered state. A release is recorded after its objects are written, which then
// show by their stamps that it was applied, if only in part. One that only deletes objects is recorded first.
func (r *Reconciler) act(ctx context.Context, s *scope, wanted rendering, found attempt) attempt {
	began := r.Clock.Now()
	there := found.there
	desired, plan, err := r.compare(ctx, s, wanted, there)
	if err != nil {
		return attempt{there: there, err: err}
	}
	a := attempt{state: release.Decide(wanted.outline.Digest, there, plan), plan: plan, there: there, hold: found.hold}
	if a.state == release.Drifted {
		a.contended = r.spareContended(ctx, s, plan, there)
		a.state = release.Decide(wanted.outline.Digest, there, plan)
	}
	if refused := release.KeepsKind(plan.Create, plan.Delete); refused != nil {
		a.err = refused
		return a
	}
	if r.refuseLost(ctx, s, &a); a.err != nil {
		return a
	}
	a.changes = plan.String()
	if a.state == release.InSync {
		return a
	}
	rollout, may, err := r.begin(ctx, s, a)
	if a.err = err; err != nil {
		return a
	}
	if !may {
		a.hold, a.plan = hold{by: byLine}, nil // nothing of it is carried out
		return a
	}
	task := release.Task{Owner: s.resource, Chart: s.renderer.Chart, Desired: desired, Snapshot: there, Plan: plan,
		State: a.state, Again: tried(s), First: first(s, a), Labels: s.asked.Labels()}
	if content := wanted.content.String(); content != "" {
		task.Labels[v1.LabelReferences] = content
	}
	if rollout != nil {
		task.Labels[v1.LabelRollout] = rollout.String()
	}
	if a.hold.by == byStage {
		return r.actBefore(ctx, s, wanted, task, a, began)
	}
	records := release.ActionOf(a.state).Records
	recordFirst := records && plan.OnlyDeletes()
	if recordFirst {
		a.err = r.record(ctx, s, wanted, task, a, nil)
	}
	var created []client.Object
	if a.err == nil && !plan.Empty() {
		var taken []kube.Key
		created, taken, a.err = r.write(ctx, s, wanted, task)
		a.changes = plan.Adopting(taken).String()
		if a.err == nil && a.state == release.Drifted {
			r.noteRepairs(s, plan)
		}
	}
	if a.err == nil && records && !recordFirst {
		a.err = r.record(ctx, s, wanted, task, a, created)
	}
	if a.there, err = r.observe(ctx, s, wanted); err != nil {
		a.there, a.err = there, errors.Join(a.err, err)
	}
	a.took = r.Clock.Since(began)
	return a
}

// deployed reports whether the current spec was ever deployed. If it was not, its owner is waiting for it, and the
// objects do not match the spec: the resource must neither be held back nor be reported as ready.
func deployed(s *scope) bool {
	condition := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionDeployed)
	return condition != nil && condition.Status == metav1.ConditionTrue &&
		condition.ObservedGeneration == s.resource.GetGeneration()
}

// tried reports whether an attempt has failed before: in this process or, if the spec was refused, in an earlier one.
func tried(s *scope) bool {
	ready := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady)
	return s.memory.backoff.Failed() ||
		ready != nil && (ready.Reason == v1.ReasonResourceExists || ready.Reason == v1.ReasonInstallFailed)
}

// first reports whether nothing of a resource was ever released: its objects were left by an attempt that failed. A
// release without a record is mentioned in the status.
func first(s *scope, a attempt) bool {
	spoken := s.previous.Release != nil || len(s.previous.Runs) > 0 || s.previous.AvailableReplicas > 0
	return a.state == release.Absent || len(a.there.Records) == 0 && !spoken
}

// reported reports whether a status was ever written. If it was and no objects are left, the resource may be about to
// be deleted, too.
func reported(s *scope) bool { return len(s.previous.Conditions) > 0 }

// record writes the record of a release whose objects are as rendered. Created are those that were just created: if
// they are all, and nothing was there before, there is no record of others.
func (r *Reconciler) record(ctx context.Context, s *scope, wanted rendering, task release.Task, a attempt,
	created []client.Object) error {
	if a.there.Record == nil && reported(s) {
		if err := r.alive(ctx, s); err != nil {
			return err // what it leaves may be another's by now
		}
	}
	begun, _ := r.begunJobs(ctx, s, wanted, a)
	if noted := r.runJobs(ctx, s, wanted, a); !s.notes(begun) {
		return noted.err // the record says what has run
	}
	task.Owner = s.resource
	task.Runs = append([]v1.RunStatus{}, s.previous.Runs...) // also if nothing has run yet
	if release.AdoptionOf(s.resource) != nil || task.Snapshot.Record == nil && len(created) < len(task.Desired.Objects) {
		stays, err := r.Actor.Inherit(ctx, task)
		r.recordLeftOver(ctx, s, stays)
		if err != nil {
			return err
		}
	}
	return r.Actor.Record(ctx, task, created)
}

// compare returns the desired objects and the plan that leads to them. If neither objects nor release have changed,
// nothing is compared and the desired objects are nil.
func (r *Reconciler) compare(ctx context.Context, s *scope, wanted rendering,
	there *livestate.Snapshot) (*render.Result, *release.Plan, error) {
	nothing := &release.Plan{}
	digest := wanted.outline.Digest
	if release.Decide(digest, there, nothing) == release.InSync && s.memory.verified.Covers(digest, there.Objects) &&
		!release.Renews(there.Objects, r.Clock.Now()) {
		s.memory.verified = release.Verify(digest, there.Objects) // drops what the caches no longer hold
		return nil, nothing, nil
	}
	desired, err := wanted.packed.Unpack()
	if err != nil {
		return nil, nil, err
	}
	plan := s.memory.verified.Compare(desired.Objects, there.Objects)
	if err := r.Actor.SpareAdmitted(ctx, s.resource, plan); err != nil {
		return nil, nil, err
	}
	if err := r.keepData(ctx, s, wanted, plan, there.Record); err != nil {
		return nil, nil, err
	}
	if release.IsDeployed(there.Record, digest) {
		if err := r.keepOrder(ctx, s, plan, there.Record); err != nil {
			return nil, nil, err
		}
	}
	plan.HoldBack(keysOf(wanted.held)...)
	// a cluster that no longer serves a kind has deleted its objects; one that has just begun to may not report it
	plan.HoldBack(wanted.outline.Unserved...)
	plan.Renew(desired.Objects, there.Objects, r.Clock.Now())
	if plan.Empty() && len(plan.Terminating) == 0 && len(wanted.held) == 0 && s.disordered == nil {
		s.memory.verified = release.Verify(digest, there.Objects)
	}
	return desired, plan, nil
}

// keepData leaves objects in place that hold data, unless a release no longer has them because its spec has changed: no
// repair, chart, defaults or operator, and no return to an earlier release, deletes them. Objects that a spec refers to
// stay.
func (r *Reconciler) keepData(ctx context.Context, s *scope, wanted rendering, plan *release.Plan,
	record *livestate.Record) error {
	if record == nil || !plan.DeletesData() {
		return nil
	}
	for _, needed := range wanted.references {
		plan.HoldBack(kube.Key{GroupKind: schema.GroupKind{Kind: needed.Kind}, Name: needed.Name})
	}
	generation := s.resource.GetGeneration()
	if !deployed(s) && !release.IsDeployed(record, wanted.outline.Digest) && !s.asked.New(record).Any() &&
		!strings.HasPrefix(record.ReturnedFrom, trialOf(generation)) {
		recorded, err := r.lastGoodOf(ctx, s, record)
		switch {
		case isStale(err):
			return err
		case err == nil && (recorded.Source == nil || recorded.Source.Differs(s.resource.Object["spec"])):
			return nil
		}
	}
	plan.KeepData()
	return nil
}

// keepOrder leaves lists in the order that they had before the operator restored that: no upgrade restarts their pods.
func (r *Reconciler) keepOrder(ctx context.Context, s *scope, plan *release.Plan, record *livestate.Record) error {
	disordered := plan.Disordered()
	if disordered == nil {
		return nil
	}
	recorded, err := r.lastGoodOf(ctx, s, record)
	if err == nil && !recorded.KnowsOrder() {
		s.disordered = disordered
		plan.KeepOrder()
	}
	return err
}

// write carries out a plan, and returns the objects that it created and those that it took over from other owners.
func (r *Reconciler) write(ctx context.Context, s *scope, wanted rendering,
	task release.Task) (created []client.Object, taken []kube.Key, err error) {
	if (task.State != release.Absent || reported(s)) && len(task.Plan.Create) > 0 {
		if err := r.alive(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	if err := r.ensureFinalizer(ctx, s, wanted); err != nil {
		return nil, nil, err
	}
	task.Plan, taken, err = r.Actor.Adopt(ctx, task)
	r.recordAdoption(ctx, s, taken)
	if err != nil {
		return nil, taken, err
	}
	created, err = r.Actor.Write(ctx, task)
	return created, taken, err
}

// keepAlive repairs the recorded release while the rendered one is refused or waits.
func (r *Reconciler) keepAlive(ctx context.Context, s *scope, wanted rendering, a attempt) attempt {
	record := a.there.Record
	refused := a.err != nil && isBlocked(a.err)
	if !refused && !a.waits() || record == nil || wanted.rendered != nil && record.Digest == wanted.outline.Digest ||
		s.memory.verified.Covers(record.Digest, a.there.Objects) && !release.Renews(a.there.Objects, r.Clock.Now()) {
		return a
	}
	if err := r.alive(ctx, s); err != nil {
		return a // it is about to be deleted: nothing may be created again
	}
	plan, there, err := r.lastGood(ctx, s, wanted, record, a)
	if err == nil {
		a.there, a.contended = there, r.spareContended(ctx, s, plan, there)
		err = r.Actor.KeepAlive(ctx, s.resource, plan, record)
	}
	switch {
	case err != nil && refused:
		a.err = &decayingError{Refusal: a.err, Err: err}
		return a
	case err != nil:
		a.err = fmt.Errorf("the running release cannot be repaired: %w", err)
		return a.decays()
	}
	switch {
	case plan.Empty():
		return a
	case plan.Restamps():
		a.resumed = true
		log.FromContext(ctx).Info("an earlier release was applied again", "revision", record.Revision, "changes",
			plan.String())
	default:
		a.repaired = plan
		r.noteRepairs(s, plan)
	}
	there, err = r.observe(ctx, s, wanted)
	if err != nil {
		a.err = errors.Join(a.err, err)
		return a
	}
	a.there = there
	return a
}

// lastGood returns the plan that repairs the recorded release, and the objects in the cluster. Routes that another
// resource serves by now are left out, and so is a stage before that was written since.
func (r *Reconciler) lastGood(ctx context.Context, s *scope, wanted rendering, record *livestate.Record,
	a attempt) (*release.Plan, *livestate.Snapshot, error) {
	recorded, err := r.lastGoodOf(ctx, s, record)
	if err != nil {
		return nil, nil, err
	}
	objects := slices.Clone(recorded.Objects)
	// Nothing is known of a kind that cannot be watched.
	all := len(objects)
	objects = slices.DeleteFunc(objects,
		func(o *unstructured.Unstructured) bool { return r.Tracker.Ensure(ctx, o.GroupVersionKind()) != nil })
	there := a.there
	if err := r.complete(ctx, s, there, slices.Collect(maps.Keys(kube.ByKey(objects)))); err != nil {
		return nil, nil, err
	}
	compare := release.CompareLastGood
	if a.waits() && record.ReturnedFrom != "" { // no other release was applied since
		compare = release.CompareReturned
	}
	plan, complete := compare(objects, there.Objects)
	if a.hold.by == byStage {
		plan.HoldBack(slices.Concat(a.hold.before, a.hold.early)...)
		plan.Delete = nil
	}
	if err := r.Actor.SpareAdmitted(ctx, s.resource, plan); err != nil {
		return nil, nil, err
	}
	if err := r.keepOrder(ctx, s, plan, record); err != nil {
		return nil, nil, err
	}
	plan.Renew(objects, there.Objects, r.Clock.Now())
	lost, err := r.lost(ctx, s, plan, record)
	if err != nil {
		return nil, nil, err
	}
	if lost != nil {
		plan.HoldBack(lost.Keys...)
	}
	held, err := r.Hosts.Settle(ctx, s.resource, hosts.WantedBy(objects), there.Objects)
	plan.HoldBack(keysOf(held)...)
	spared := lost != nil || s.disordered != nil || len(held) > 0
	if complete && !spared && len(objects) == all && plan.Empty() && len(plan.Terminating) == 0 {
		s.memory.verified = release.Verify(record.Digest, there.Objects)
	}
	return plan, there, err
}

func keysOf(held []hosts.Held) []kube.Key {
	keys := make([]kube.Key, 0, len(held))
	for _, route := range held {
		keys = append(keys, route.Key)
	}
	return keys
}

// observe returns the objects that exist for a resource after they were written.
func (r *Reconciler) observe(ctx context.Context, s *scope, wanted rendering) (*livestate.Snapshot, error) {
	there, err := r.Observer.Snapshot(ctx, s.resource, nil)
	if err != nil {
		return nil, err
	}
	return there, r.complete(ctx, s, there, wanted.keys())
}

// complete reads content that the caches do not hold, of rendered or recorded objects only: anyone can create a large
// object that appears to be the resource's.
func (r *Reconciler) complete(ctx context.Context, s *scope, there *livestate.Snapshot, keys []kube.Key) error {
	return r.Observer.Complete(ctx, there, func(outline client.Object) bool {
		return slices.Contains(keys, kube.KeyOf(outline)) && !s.memory.verified.Knows(outline)
	})
}

// alive checks with the API server that the resource still exists before anything is created again for it. When the
// garbage collector deletes the objects of a resource, informers may show that before they show that the resource is
// gone.
func (r *Reconciler) alive(ctx context.Context, s *scope) error {
	live := kube.Metadata(r.Kind)
	err := r.Live.Get(ctx, s.name(), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != s.resource.GetUID() || live.DeletionTimestamp != nil):
		return &release.StaleError{Err: errors.New("the resource is gone")}
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	return nil
}
