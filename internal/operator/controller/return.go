package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/rollout"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/operator/status/health"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// returnedError says that what is new failed, and that an earlier release was applied again.
type returnedError struct{ release.Returned }

func (e *returnedError) Error() string {
	if e.To == 0 { // its record cannot be read
		return "an earlier release runs again"
	}
	return fmt.Sprintf("%s; release %d failed, release %d runs again", e.Message, e.From, e.To)
}

// Reason returns the reason of Ready.
func (e *returnedError) Reason() string { return v1.ReasonReturnedToRelease }

// returns reports whether the spec requests to answer a release that fails with the last one that was Ready. For other
// kinds than AppService, spec belongs to the chart.
func (r *Reconciler) returns(s *scope) bool {
	action, _, _ := unstructured.NestedString(s.resource.Object, "spec", "onFailure", "action")
	return action == string(v1.OnFailureReturn) && kube.IsAppService(r.Kind)
}

// taskRan reports whether a task ran after an earlier release was made, or may have: that release would then meet what
// the task has changed.
func (s *scope) taskRan(earlier *release.Source) bool {
	return slices.ContainsFunc(s.previous.Runs, func(run v1.RunStatus) bool {
		known := earlier != nil && slices.ContainsFunc(earlier.Runs,
			func(before v1.RunStatus) bool { return before.Digest == run.Digest })
		return !known && run.Result != v1.RunSkipped
	})
}

// returnsAfterTask reports whether the spec requests to return also after a task of the release that failed has run.
func (s *scope) returnsAfterTask() bool {
	requested, _, _ := unstructured.NestedBool(s.resource.Object, "spec", "onFailure", "afterTask")
	return requested
}

// returned leaves the recorded release to a resource that returned to it, until something else has to be tried: then
// the trial is another one. Whether what the spec requests could be rendered does not matter until then.
func (r *Reconciler) returned(ctx context.Context, s *scope, _ *rendering, found attempt) (hold, error) {
	record := found.observed.Record
	if record == nil || record.ReturnedFrom == "" || !s.triesAgain(parseTrial(record.ReturnedFrom)) {
		return found.hold, found.err
	}
	known, err := r.recorded(ctx, s, record)
	if err != nil {
		known = &recorded{}
	}
	if found.err != nil && !isBlocked(found.err) {
		err = found.err
	}
	by := byReturn
	if _, begun := s.begun(record); begun { // its user did not ask for what failed
		by = byFailure
	}
	return hold{by: by, err: &returnedError{known.returned}}, err
}

// wasReady reports whether a release was Ready since it was recorded, as far as that is known. An earlier operator said
// so in the record, as returns do.
func (s *scope) wasReady(record *livestate.Record) bool {
	said := s.previous.Release
	return record.Ready || said != nil && said.Revision == record.Revision && (said.WasReady || status.HasRun(s.previous))
}

// ready returns the record of the newest release that was Ready, by the status, and by the records if that is not lost;
// nil for none.
func (s *scope) ready(observed *livestate.Snapshot) *livestate.Record {
	switch last := release.LastReady(observed.Records); {
	case observed.Record != nil && s.wasReady(observed.Record):
		return observed.Record
	case last == nil || s.previous.Release == nil:
		return nil
	default:
		return last
	}
}

// lastReady returns the revision of the newest release that was Ready, for the label of the next record; 0 for none.
func (s *scope) lastReady(observed *livestate.Snapshot) string {
	if ready := s.ready(observed); ready != nil {
		return strconv.Itoa(ready.Revision)
	}
	return "0"
}

// failsByItself reports whether the rendered release is in the cluster and fails for causes of its own. One that was
// Ready does not count: what it suffers from came later.
func (s *scope) failsByItself(wanted rendering, done attempt, current *v1.AppServiceStatus,
	causes map[kube.Key][]diagnose.Cause) bool {
	record := done.observed.Record
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	return done.err == nil && !done.waits() && wanted.rendered != nil && record != nil && !s.wasReady(record) &&
		record.Digest == wanted.outline.Digest && meta.IsStatusConditionTrue(current.Conditions, v1.ConditionStalled) &&
		reason.Of(ready.Reason).LeadsBack && ofRelease(causes)
}

// isTooEarly reports whether it is too early to take a rollout back that nobody asked for: the deadline of a spec,
// which may be a second, does not fail a chart, only that of the line does, or what pods show.
func (r *Reconciler) isTooEarly(s *scope, done attempt, current *v1.AppServiceStatus) bool {
	running, begun := s.begun(done.observed.Record)
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	if !begun || reason.Of(ready.Reason).InPods {
		return false
	}
	_, state := running.Judge(true, health.ReplicasOf(done.observed.Objects), r.Clock.Now(), r.Rollouts.Deadline)
	return state != rollout.Failed
}

// culpritOf returns the problem for which a resource is not ready.
func culpritOf(current *v1.AppServiceStatus) v1.Problem {
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	at := slices.IndexFunc(current.Problems, func(p v1.Problem) bool { return p.Reason == ready.Reason })
	if at < 0 {
		return v1.Problem{Reason: ready.Reason, Message: ready.Message}
	}
	return current.Problems[at]
}

// ofRelease reports whether only the release itself keeps pods from running, as far as that is known.
func ofRelease(causes map[kube.Key][]diagnose.Cause) bool {
	for key, list := range causes {
		if kube.TraitsOf(key.GroupKind).RunsPods && slices.ContainsFunc(list, func(c diagnose.Cause) bool {
			return c.Effect != diagnose.Advice && !reason.Of(c.Reason).LeadsBack
		}) {
			return false
		}
	}
	return true
}

// keptError says why a release that failed is kept, although the spec requests to return to an earlier one.
type keptError struct{ Err error }

func (e *keptError) Error() string { return "the failed release is kept: " + e.Err.Error() }
func (e *keptError) Unwrap() error { return e.Err }

// goBack records the last release that was Ready as the next one, if that answers a release that failed: the reconcile
// after this one finds it, and writes its objects. It reports whether it did. The error is a keptError, or one that the
// next reconcile may not have.
func (r *Reconciler) goBack(ctx context.Context, s *scope, wanted rendering, done attempt, why v1.Problem) (bool,
	error) {
	task, writes, err := r.returnTask(ctx, s, wanted, done, why)
	if err == nil {
		_, recorded := r.commit(ctx, s, wanted, task, done)
		err, done.took = recorded.err, recorded.took
	}
	switch {
	case isStale(err):
		return false, err
	case err != nil:
		return false, &keptError{err}
	}
	what := plan.ActionOf(plan.Failed)
	log.FromContext(ctx).Info(what.Log, "failed", done.observed.Record.Revision, "reason", why.Reason,
		"message", why.Message, "earlier", task.Source.Returned.To, "changes", writes.String())
	r.Metrics.Acted(what.Verb, done.took)
	return true, nil
}

// returnTask returns what records the last release again that was Ready, and the plan that the next reconcile carries
// out. The error says what is in the way: today's policy, Pod Security, hosts and references hold for it, too.
func (r *Reconciler) returnTask(ctx context.Context, s *scope, wanted rendering, done attempt,
	why v1.Problem) (task release.Task, writes *plan.Plan, err error) {
	ready := release.LastReady(done.observed.Records)
	if ready == nil {
		return task, nil, errors.New("no release that was Ready is recorded")
	}
	content, err := r.Actor.ReadRecorded(ctx, s.resource, ready)
	if err != nil {
		return task, nil, err
	}
	if s.taskRan(content.Source) && !s.returnsAfterTask() {
		return task, nil, errors.New("the release task ran, and spec.onFailure.afterTask is not set")
	}
	desired, err := r.renderEarlier(ctx, s, wanted, content)
	if err != nil {
		return task, nil, err
	}
	if err := r.hostsAllow(ctx, s, wanted, done, desired); err != nil {
		return task, nil, err
	}
	writes, _ = plan.CompareReturned(desired.Objects, done.observed.Objects)
	if err := r.Actor.SpareAdmitted(ctx, s.resource, writes); err != nil {
		return task, nil, err
	}
	if lost, err := r.Actor.Lost(ctx, s.resource, writes, content.Objects); err != nil || lost != nil {
		return task, nil, cmp.Or(err, error(lost))
	}
	source := content.Source
	if source == nil {
		return task, nil, fmt.Errorf("release %d was recorded without its spec", ready.Revision)
	}
	task = release.Task{Owner: s.resource, Chart: content.Chart, Desired: desired, Snapshot: done.observed, Plan: writes,
		State: plan.Failed, Labels: s.returnLabels(done.observed.Record, content.Record), Kept: true}
	task.Source = source.Again(&release.Returned{From: done.observed.Record.Revision, To: ready.Revision,
		Reason: why.Reason, Message: why.Message})
	err = r.Actor.Prove(ctx, task)
	task.Plan = &plan.Plan{}
	return task, writes, err
}

// returnLabels returns the labels of the record of a release that is applied again: what rendered it, what failed, and
// the rollout that failed if its user did not ask for it.
func (s *scope) returnLabels(failed, earlier *livestate.Record) map[string]string {
	labels := labelsOf(earlier)
	labels[v1.LabelReady] = "true"
	labels[v1.LabelReturnedFrom] = s.trial(s.basis.New(earlier).Any()).String()
	if _, begun := s.begun(failed); begun {
		labels[v1.LabelRollout] = failed.Rollout
	}
	return labels
}

// labelsOf returns the labels of a record that say what rendered it, and what its pods take.
func labelsOf(record *livestate.Record) map[string]string {
	labels := map[string]string{v1.LabelChartDigest: record.ChartDigest, v1.LabelRenderedBy: record.RenderedBy,
		v1.LabelReferences: record.References}
	if record.Defaults != "" {
		labels[v1.LabelDefaults] = record.Defaults
	}
	return labels
}

// renderEarlier returns an earlier release as it is applied again: as it was recorded, with the present sizes, so that
// pods that still run stay. The error says what is in the way, or that there is nothing to take back.
func (r *Reconciler) renderEarlier(ctx context.Context, s *scope, wanted rendering,
	earlier *release.Recorded) (*render.Result, error) {
	facts, err := r.factsOf(ctx, s, wanted, reference.Of(earlier.Objects))
	if err != nil {
		return nil, err
	}
	present, err := wanted.objects()
	if err != nil {
		return nil, err
	}
	again := func(chain ...postrender.Hook) (*render.Result, error) {
		chain = append(chain, postrender.Sizes(present), postrender.ClaimSizes(present), postrender.KeepKeys)
		return render.Again(ctx, s.resource, earlier.Chart, earlier.Config, earlier.Manifest, facts, chain...)
	}
	facts.Content, facts.Generated, facts.Keys = wanted.content.Version, wanted.facts.Generated, wanted.facts.Keys
	facts.Recorded = earlier.Objects
	restarted, err := again(postrender.Restarts)
	if err == nil && sameApartFromBudgets(restarted.Objects, present) {
		err = fmt.Errorf("release %d, the last that was Ready, differs only in what restarts pods, and in sizes",
			earlier.Version)
	}
	if err != nil {
		return nil, err
	}
	return again(postrender.PodSecurity, postrender.Policy)
}

// sameApartFromBudgets reports whether two renderings are the same, apart from PodDisruptionBudgets: whether there is
// one depends on the size, and no pod fails for it.
func sameApartFromBudgets(a, b []*unstructured.Unstructured) bool {
	rest := func(objects []*unstructured.Unstructured) map[kube.Key]*unstructured.Unstructured {
		by := kube.ByKey(objects)
		maps.DeleteFunc(by,
			func(key kube.Key, _ *unstructured.Unstructured) bool { return key.Kind == "PodDisruptionBudget" })
		return by
	}
	return maps.EqualFunc(rest(a), rest(b),
		func(x, y *unstructured.Unstructured) bool { return len(plan.Differences(x, y)) == 0 })
}

// hostsAllow returns an error if another resource serves a host of an earlier release by now. Then the resource
// requests those of its spec, as before.
func (r *Reconciler) hostsAllow(ctx context.Context, s *scope, wanted rendering, done attempt,
	earlier *render.Result) error {
	held, err := r.Hosts.Settle(ctx, s.resource, hosts.RequestedBy(earlier.Objects), done.observed.Objects)
	if err != nil || len(held) == 0 {
		return err
	}
	_, err = r.Hosts.Settle(ctx, s.resource, wanted.routes, done.observed.Objects)
	return errors.Join(held[0].Err, err)
}
