package controller

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// stageBefore holds everything back except for the rendered stage `before`, unless that is ready or belongs to the
// recorded release.
func (r *Reconciler) stageBefore(_ context.Context, s *scope, wanted *rendering, found attempt) (hold, error) {
	if wanted.rendered == nil || plan.IsDeployed(found.observed.Record, wanted.outline.Digest) {
		return hold{}, nil
	}
	before := wanted.outline.InStage(stage.Before)
	if len(before) == 0 {
		return hold{}, nil
	}
	desired, err := wanted.objects()
	if err != nil {
		return hold{}, err
	}
	for _, object := range desired {
		if stage.Of(object) == stage.Before && !r.isPassed(s, *wanted, object, found.observed) {
			return hold{by: byStage, before: before, early: wanted.outline.InStage(stage.Early)}, nil
		}
	}
	return hold{}, nil
}

// isPassed reports whether nothing waits for an object of the stage `before`: a Job that has run, an object that is as
// rendered and ready, or one that is ready as soon as it is written.
func (r *Reconciler) isPassed(s *scope, wanted rendering, object *unstructured.Unstructured,
	observed *livestate.Snapshot) bool {
	if jobs.RunsOnce(object) {
		return s.hasRun(wanted, object.GetName(), observed)
	}
	facts := health.Facts{Now: r.Clock.Now(), Live: observed.Objects}
	live := observed.Objects[kube.KeyOf(object)]
	return !health.Of(object, facts).Holds() || plan.SameStamp(object, live) && !health.Of(live, facts).Holds()
}

// hasRun reports whether a rendered Job has succeeded, or was skipped.
func (s *scope) hasRun(wanted rendering, name string, observed *livestate.Snapshot) bool {
	of := slices.IndexFunc(wanted.jobs, func(job jobs.Desired) bool { return job.Run.Job == name })
	if of < 0 {
		return false
	}
	return slices.ContainsFunc(slices.Concat(s.previous.Runs, s.former), func(run v1.RunStatus) bool {
		result := run.Result
		if job := kube.As[batchv1.Job](observed.Objects[jobKey(run.Job)]); result == "" && job != nil && job.UID == run.UID {
			result = release.JobOf(job).Result
		}
		return run.Digest == wanted.jobs[of].Run.Digest && (result == v1.RunComplete || result == v1.RunSkipped)
	})
}

// isMainReady reports whether everything was found as rendered and ready, except for the stage `after`.
func (r *Reconciler) isMainReady(ctx context.Context, s *scope, wanted rendering, done attempt) bool {
	plan, observed := done.plan, done.observed
	facts := health.Facts{Now: r.Clock.Now(), Live: observed.Objects, Gateways: r.gateways(ctx, observed)}
	if observed.Record != nil {
		facts.Since = observed.Record.Made
	}
	for _, key := range wanted.outline.InStage(stage.Before, stage.Early, stage.Main) {
		live := observed.Objects[key]
		hasRun := live == nil && key == jobKey(key.Name) && s.hasRun(wanted, key.Name, observed)
		if plan.Touches(key) || !hasRun && health.Of(live, facts).Holds() {
			return false
		}
	}
	return true
}

// begunJobs returns the Jobs that run once of the stages that have begun, and the noted runs of those of other stages.
func (r *Reconciler) begunJobs(ctx context.Context, s *scope, wanted rendering,
	done attempt) (begun []jobs.Desired, kept []v1.RunStatus) {
	if len(wanted.outline.Stages) == 0 {
		return slices.Clone(wanted.jobs), nil
	}
	stages := []stage.Stage{stage.Before}
	if done.hold.by != byStage {
		stages = append(stages, stage.Early, stage.Main)
	}
	if len(wanted.jobsIn(stage.After)) > 0 && done.plan != nil && r.isMainReady(ctx, s, wanted, done) {
		stages = append(stages, stage.After)
	}
	begun = wanted.jobsIn(stages...)
	for _, noted := range s.previous.Runs {
		isOf := func(run jobs.Run) bool { return run.Named(noted.Job) }
		if at := slices.IndexFunc(wanted.runs, isOf); at >= 0 &&
			!slices.ContainsFunc(begun, func(job jobs.Desired) bool { return wanted.runs[at].Named(job.Run.Job) }) {
			kept = append(kept, noted)
		}
	}
	return begun, kept
}

// showStaged completes the input of a status whose release waits for the stage `before`: the objects of that stage
// count, and those of the recorded release, if there is one.
func (r *Reconciler) showStaged(in *status.Input, s *scope, done attempt) {
	in.Stage = &status.Stage{Name: string(stage.Before), Objects: len(done.hold.before), New: !deployed(s)}
	in.Rendered = slices.Clone(done.hold.before)
	if done.observed.Record == nil || s.memory.recorded == nil {
		return
	}
	in.Digest = done.observed.Record.Digest
	for _, key := range s.memory.recorded.keys {
		if !slices.Contains(s.memory.recorded.before, key) && !slices.Contains(in.Rendered, key) {
			in.Rendered = append(in.Rendered, key)
		}
	}
}
