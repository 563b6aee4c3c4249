package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/operator/status"
)

// jobNames returns the names of the Jobs that already run the rendered spec, by rendered name: as noted in the status,
// or as recorded.
func (r *Reconciler) jobNames(ctx context.Context, s *scope, runs []jobs.Run,
	record *livestate.Record) (map[string]string, error) {
	names := jobs.Names(runs, s.previous.Runs)
	for _, run := range runs {
		if names[run.Job] != "" {
			continue
		}
		former, err := r.former(ctx, s, run, record)
		if err != nil {
			return nil, err
		}
		if former != nil {
			if names == nil {
				names = map[string]string{}
			}
			names[run.Job] = former.Job
			s.former = append(s.former, *former)
		}
	}
	return names, nil
}

// former returns the run of the recorded release, if it ran the same and no other is noted since: the release of an
// operator that noted nothing, or of a chart that names other fields. It returns nil if there is none.
func (r *Reconciler) former(ctx context.Context, s *scope, run jobs.Run,
	record *livestate.Record) (*v1.RunStatus, error) {
	if record == nil {
		return nil, nil
	}
	recorded, err := r.readRecorded(ctx, s, record)
	if damaged := (*release.DamagedError)(nil); errors.As(err, &damaged) && len(s.previous.Runs) > 0 {
		return nil, nil
	}
	if err != nil || recorded.Source == nil {
		return nil, err
	}
	at := slices.IndexFunc(recorded.Objects,
		func(o *unstructured.Unstructured) bool { return jobs.RunsOnce(o) && run.Named(o.GetName()) })
	if at < 0 {
		return nil, nil
	}
	job := recorded.Objects[at]
	ran := func(noted v1.RunStatus) bool {
		return noted.Job == job.GetName() && (noted.UID != "" || noted.Result != "") && run.MayRepeat(noted)
	}
	if recorded.Source.Runs != nil && !slices.ContainsFunc(recorded.Source.Runs, ran) {
		return nil, nil
	}
	restarted, _, _ := unstructured.NestedString(job.Object, "spec", "template", "metadata", "annotations",
		v1.AnnotationRestartedAt)
	spec, _ := recorded.Source.Spec.(map[string]any)
	if !run.Repeats(spec, restarted) {
		return nil, nil
	}
	former := v1.RunStatus{Job: job.GetName()}
	for _, noted := range s.previous.Runs {
		if run.Named(noted.Job) && noted.Job != former.Job {
			return nil, nil
		}
		if noted.Job == former.Job {
			former = noted
		}
	}
	former.Digest = run.Digest
	if former.UID != "" || former.Result != "" {
		return &former, nil
	}
	live, err := r.Actor.LiveJob(ctx, s.resource, former)
	switch ready := meta.FindStatusCondition(s.previous.Conditions, v1.ConditionReady); {
	case err != nil:
		return nil, err
	case live != nil:
		former.UID = live.UID
	case ready != nil && ready.Reason == v1.ReasonComplete && ready.ObservedGeneration == s.resource.GetGeneration():
		former.Result = v1.RunComplete
	default:
		former.Result = v1.RunUnknown
	}
	return &former, nil
}

// wantedJobs returns the rendered Jobs that run once.
func wantedJobs(of *rendered, objects []*unstructured.Unstructured) []jobs.Desired {
	var list []jobs.Desired
	key := postrender.NamingKey(of.facts.Keys)
	for _, object := range objects {
		for _, run := range of.runs {
			if jobs.RunsOnce(object) && object.GetName() == cmp.Or(of.facts.Jobs[run.Job], run.Name(key)) {
				suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
				list = append(list, jobs.Desired{Run: v1.RunStatus{Job: object.GetName(), Digest: run.Digest},
					Suspended: suspended, Skipped: run.Skipped})
			}
		}
	}
	return list
}

// notes reports whether the status notes some Jobs that are rendered to run once.
func (s *scope) notes(wanted []jobs.Desired) bool {
	return !slices.ContainsFunc(wanted, func(job jobs.Desired) bool {
		return !slices.ContainsFunc(s.previous.Runs, func(run v1.RunStatus) bool { return run.Digest == job.Run.Digest })
	})
}

// runner takes the steps of jobs.Next in one reconcile.
type runner struct {
	*Reconciler
	s      *scope
	wanted rendering
	state  jobs.State
	live   map[types.UID]*batchv1.Job
	acted  bool
}

// runJobs brings the Jobs that run once to the rendered state, after all other objects are. While that cannot be, it
// notes how they end. The scope returned has what was noted.
func (r *Reconciler) runJobs(ctx context.Context, s *scope, wanted rendering, done attempt) (*scope, attempt) {
	steps := &runner{Reconciler: r, s: s, wanted: wanted}
	err := steps.readState(ctx, done)
	if err == nil && (len(steps.state.Jobs) > 0 || len(steps.state.Desired) > 0 || len(steps.state.Runs) > 0) {
		err = steps.run(ctx)
	}
	if steps.acted {
		if observed, observeErr := r.observe(ctx, steps.s, wanted, done.observed); observeErr == nil {
			done.observed = observed
		}
	}
	done.err = cmp.Or(done.err, rbac.Explain(err, s.renderer.Chart, s.renderer.Option(), s.renderer.ClusterScoped))
	return steps.s, done
}

// readState reads the state that determines the steps. Only a live read shows that a Job is gone.
func (j *runner) readState(ctx context.Context, done attempt) error {
	asRendered := done.err == nil || done.plan != nil && done.plan.Empty() // else only its record is missing
	j.state.Runs, j.state.Unrecorded = j.s.previous.Runs, len(done.observed.Records) == 0
	goes := !done.waits() || done.hold.by == byStage
	j.state.Known = j.wanted.rendered != nil && !j.s.paused && goes && asRendered
	if j.state.Known {
		j.state.Desired, j.state.Retained = j.begunJobs(ctx, j.s, j.wanted, done)
		for i, wanted := range j.state.Desired {
			for _, former := range j.s.former {
				if former.Digest == wanted.Run.Digest {
					j.state.Desired[i].Run = former
				}
			}
		}
	}
	j.live = map[types.UID]*batchv1.Job{}
	for _, key := range slices.SortedFunc(maps.Keys(done.observed.Objects), kube.Key.Compare) {
		object := done.observed.Objects[key]
		if !jobs.RunsOnce(object) {
			continue
		}
		job := kube.As[batchv1.Job](object)
		if job == nil { // it is large
			var err error
			if job, err = j.Actor.LiveJob(ctx, j.s.resource,
				v1.RunStatus{Job: object.GetName(), UID: object.GetUID()}); err != nil || job == nil {
				return cmp.Or(err, error(&release.StaleError{Err: fmt.Errorf("job %s is gone", object.GetName())}))
			}
		}
		j.add(job)
	}
	for _, run := range j.state.Runs {
		if run.UID == "" || run.Result != "" || j.live[run.UID] != nil {
			continue
		}
		job, err := j.Actor.LiveJob(ctx, j.s.resource, run)
		if err != nil {
			return err
		}
		if job != nil {
			j.add(job)
		}
	}
	return nil
}

func (j *runner) add(job *batchv1.Job) {
	j.live[job.UID] = job
	j.state.Jobs = append(j.state.Jobs, release.JobOf(job))
}

// run takes steps until there is nothing to do, or something has to be waited for.
func (j *runner) run(ctx context.Context) error {
	present := func() error { return j.unchanged(ctx) }
	for {
		step := jobs.Next(j.state)
		at := slices.IndexFunc(j.state.Jobs, func(job jobs.Job) bool { return job.UID == step.Job.UID })
		switch step.Action {
		case jobs.Done:
			return j.change(ctx)
		case jobs.Create:
			if err := j.create(ctx, step.Name); err != nil {
				return err
			}
		case jobs.Note:
			written, err := j.Status.NoteRuns(ctx, j.s.resource, step.Runs)
			if err != nil {
				return err
			}
			noted := *j.s
			if noted.resource, _, err = kube.Expand(written); err != nil {
				return err
			}
			if noted.previous, err = status.Of(noted.resource); err != nil {
				return err
			}
			j.s = &noted
			j.state.Runs = step.Runs
		case jobs.Delete:
			if err := j.delete(ctx, step.Job, present); err != nil {
				return err
			}
			j.state.Jobs[at].Deleting = true
		case jobs.Wait:
			if err := j.Actor.EarlierRuns(ctx, j.s.resource, j.state.Runs, j.wanted.runs); err != nil {
				return err
			}
			return &release.StaleError{Err: errors.New("the run before is gone")}
		case jobs.Start:
			desired, err := j.desired(step.Job.Name)
			if err != nil {
				return err
			}
			if err := j.Actor.StartJob(ctx, j.s.resource, desired, step.Job, j.state.Runs, j.wanted.runs, present); err != nil {
				return cmp.Or(j.clear(ctx, err, present), err)
			}
			log.FromContext(ctx).Info("Job started", "job", step.Job.Name)
			j.event(j.s, corev1.EventTypeNormal, v1.ReasonStarted, fmt.Sprintf("Job %s runs", step.Job.Name))
			j.state.Jobs[at].Started = true
			delete(j.live, step.Job.UID) // as it was before
		}
		j.acted = true
	}
}

// clear deletes Jobs of earlier runs that hold back a start and that the caches do not show.
func (j *runner) clear(ctx context.Context, held error, present func() error) error {
	var earlier *release.EarlierRunError
	if !errors.As(held, &earlier) {
		return nil
	}
	for _, job := range earlier.Jobs {
		if err := j.delete(ctx, job, present); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes the Job of an earlier run.
func (j *runner) delete(ctx context.Context, job jobs.Job, present func() error) error {
	if err := j.Actor.DeleteJob(ctx, j.s.resource, job, present); err != nil {
		return err
	}
	log.FromContext(ctx).Info("Job of an earlier run deleted", "job", job.Name)
	return nil
}

// create creates a Job, suspended. The first of a resource needs a name that no other Helm release has.
func (j *runner) create(ctx context.Context, name string) error {
	if len(j.state.Runs) == 0 && j.state.Unrecorded {
		if err := j.Actor.NameIsFree(ctx, j.s.resource); err != nil {
			return err
		}
	}
	desired, err := j.desired(name)
	if err != nil {
		return err
	}
	if err := j.unchanged(ctx); err != nil {
		return err
	}
	job, err := j.Actor.CreateJob(ctx, j.s.resource, desired)
	if err != nil {
		return err
	}
	j.add(job)
	return nil
}

// change applies to live Jobs the fields that may change.
func (j *runner) change(ctx context.Context) error {
	for _, wanted := range j.state.Desired {
		for _, run := range j.state.Runs {
			live := j.live[run.UID]
			if run.Digest != wanted.Run.Digest || run.Result != "" || live == nil {
				continue
			}
			desired, err := j.desired(run.Job)
			if err != nil {
				return err
			}
			if err := j.Actor.ChangeJob(ctx, j.s.resource, desired, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// desired returns a rendered Job.
func (j *runner) desired(name string) (*unstructured.Unstructured, error) {
	rendered, err := j.wanted.objects()
	if err != nil {
		return nil, err
	}
	for _, object := range rendered {
		if jobs.RunsOnce(object) && object.GetName() == name {
			return object, nil
		}
	}
	return nil, &release.StaleError{Err: fmt.Errorf("job %s is no longer rendered", name)}
}

// unchanged returns a StaleError unless the API server has the resource in the very version from which this reconcile
// decides.
func (j *runner) unchanged(ctx context.Context) error {
	live := kube.Metadata(j.Kind)
	err := j.Live.Get(ctx, j.s.name(), live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("cannot read %s: %w", j.Kind.Kind, err)
	case err != nil, live.UID != j.s.resource.GetUID(), live.DeletionTimestamp != nil,
		live.ResourceVersion != j.s.resource.GetResourceVersion():
		return &release.StaleError{Err: errors.New("the resource has changed")}
	}
	return nil
}
