//go:build cluster

package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

// jobStep changes an AppJob, or is a write by another client. It says what it did; nothing where there was nothing to do.
type jobStep struct {
	text string
	do   func(ctx context.Context, j *jobWalker) (string, error)
}

var images = []string{"report:1", "report:2", "report:3"}

// runsOtherwise are changes of what an AppJob runs, and alike the other fields: they run nothing.
var (
	runsOtherwise = []m{
		{"image": images[0]}, {"image": images[1]}, {"image": images[2]},
		{"envs": l{m{"name": "LEVEL", "value": "debug"}}}, {"envs": nil},
		{"config": m{"environment": m{"FORMAT": "text"}}}, {"config": m{"files": m{"a.conf": "x"}}}, {"config": nil},
		{"podLabels": m{"tier": "back"}}, {"resources": m{"requests": m{"cpu": "0.1"}}},
	}
	runsAlike = []m{
		{"retries": int64(1)}, {"retries": int64(5)}, {"retries": nil}, {"deadlineSeconds": int64(600)}, {"deadlineSeconds": nil},
		{"suspend": true}, {"suspend": nil}, {"suspend": nil},
	}
)

// jobWriters are the others that write to an AppJob and what it made.
var jobWriters = []jobStep{
	{"somebody deletes the Job that has ended", deleteJob("Background")},
	{"kubectl delete job --cascade=orphan", deleteJob("Orphan")},
	{"somebody takes off the stamp", jobPatch(fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, "app.example.com/rendered"))},
	{"somebody adds labels and annotations", jobPatch(fmt.Sprintf(`{"metadata":{"labels":{%q:"mine"}}}`, note+"note"))},
	{"somebody deletes the release record", deleteJobRecord},
	{"kubectl delete --cascade=orphan, and it is made again", orphanJob},
	{"the operator restarts", func(_ context.Context, j *jobWalker) (string, error) {
		j.restartManager()
		return "a new manager", nil
	}},
}

// someRuns are the steps of a walk of an AppJob. First, what it runs changes, and the Job that has ended is deleted.
func someRuns(random *rand.Rand, count int) []jobStep {
	list := []jobStep{becomes(runsOtherwise[1]), jobWriters[0]}
	for len(list) < count {
		switch choice := random.IntN(10); {
		case choice < 3:
			list = append(list, becomes(runsOtherwise[random.IntN(len(runsOtherwise))]))
		case choice < 5:
			list = append(list, becomes(runsAlike[random.IntN(len(runsAlike))]))
		case choice < 6:
			list = append(list, restarted(fmt.Sprintf("request-%d", random.IntN(3))))
		default:
			list = append(list, jobWriters[random.IntN(len(jobWriters))])
		}
	}
	return list[:count]
}

func becomes(fields m) jobStep {
	return jobStep{"set " + short(fields), func(ctx context.Context, j *jobWalker) (string, error) {
		taken.add(func(s *statistics) { s.changes++ })
		return "", j.change(ctx, func(job *unstructured.Unstructured) {
			for field, value := range fields {
				unstructured.RemoveNestedField(job.Object, "spec", field)
				if value != nil {
					_ = unstructured.SetNestedField(job.Object, runtime.DeepCopyJSONValue(value), "spec", field)
				}
			}
		})
	}}
}

func restarted(at string) jobStep {
	return jobStep{"another run is asked for: " + at, func(ctx context.Context, j *jobWalker) (string, error) {
		taken.add(func(s *statistics) { s.changes++ })
		return "", j.change(ctx, func(job *unstructured.Unstructured) {
			job.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: at})
		})
	}}
}

// jobWalker takes the walk of an AppJob.
type jobWalker struct {
	*walker
	job *unstructured.Unstructured
	// asked is how many runs were asked for, and present what should run.
	asked   int
	present string
	// waits means that the present run was asked for while spec.suspend is set.
	waits bool
	// deleted means that someone deleted the Job of the present run.
	deleted bool
}

func appJob(namespace string, spec map[string]any) *unstructured.Unstructured {
	job := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(spec)}}
	job.SetGroupVersionKind(v1.GroupVersion.WithKind("AppJob"))
	job.SetNamespace(namespace)
	job.SetName(name)
	return job
}

// runJobs takes the chosen steps of a walk of an AppJob.
func (w *walker) runJobs(ctx context.Context, p plan, chosen []int) error {
	j := &jobWalker{walker: w, job: appJob(w.app.Namespace, p.first)}
	if err := cluster.Client.Create(ctx, j.job); err != nil {
		return err
	}
	j.ask()
	if err := j.settle(ctx); err != nil {
		return fmt.Errorf("at the beginning: %w", err)
	}
	for _, i := range chosen {
		if err := j.take(ctx, p.runs[i]); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, p.runs[i].text, err)
		}
	}
	if err := j.end(ctx); err != nil {
		return fmt.Errorf("at the end, with %s: %w", short(j.job.Object["spec"]), err)
	}
	taken.add(func(s *statistics) { s.ended(p.role); s.runs += j.asked })
	return nil
}

func (j *jobWalker) take(ctx context.Context, s jobStep) error {
	said, err := s.do(ctx, j)
	if err != nil {
		return err
	}
	if said != "" {
		j.t.Logf("%s: %s", s.text, said)
		taken.add(func(s *statistics) { s.writes++ })
	}
	return j.settle(ctx)
}

// change changes the AppJob, and counts the run that this asks for.
func (j *jobWalker) change(ctx context.Context, change func(*unstructured.Unstructured)) error {
	err := eventually(ctx, func() error {
		if err := j.get(ctx, j.job); err != nil {
			return err
		}
		change(j.job)
		return cluster.Client.Update(ctx, j.job, client.FieldOwner("kubectl-edit"))
	})
	j.ask()
	return err
}

// ask notes the run that the AppJob requests. Fields that say how often and how long it may try, and whether it may run now, do not count.
func (j *jobWalker) ask() {
	spec, _, _ := unstructured.NestedMap(j.job.Object, "spec")
	suspended := spec["suspend"] == true
	for _, field := range []string{"retries", "deadlineSeconds", "suspend"} {
		delete(spec, field)
	}
	if run := short([]any{spec, j.job.GetAnnotations()[v1.AnnotationRestartedAt]}); run != j.present {
		j.present, j.waits, j.deleted = run, true, false
	}
	if j.waits && !suspended {
		j.asked++
		j.waits = false
	}
}

// settle waits until what is asked for has run, and nothing else.
func (j *jobWalker) settle(ctx context.Context) error {
	err := eventually(ctx, func() error {
		if err := j.get(ctx, j.job); err != nil {
			return err
		}
		return cmp.Or(j.noted(), j.counted())
	})
	return cmp.Or(err, j.witness.err())
}

// noted returns an error unless the status notes the present run alone, in the present generation, with its result.
func (j *jobWalker) noted() error {
	observed, _, _ := unstructured.NestedInt64(j.job.Object, "status", "observedGeneration")
	runs, _, _ := unstructured.NestedSlice(j.job.Object, "status", "runs")
	if observed != j.job.GetGeneration() || len(runs) != 1 {
		return fmt.Errorf("the status speaks of generation %d, not %d, and notes %v", observed, j.job.GetGeneration(), runs)
	}
	run, _ := runs[0].(map[string]any)
	if result, _ := run["result"].(string); (result == string(v1.RunComplete)) == j.waits {
		return fmt.Errorf("run %d is to wait: %t, and the status notes %v", j.asked, j.waits, run)
	}
	return nil
}

// counted returns an error unless as many Jobs were started as were asked for.
func (j *jobWalker) counted() error {
	if started := j.witness.runs(); started != j.asked {
		return fmt.Errorf("%d runs were asked for, and %d Jobs started", j.asked, started)
	}
	return nil
}

// own lists the objects of the AppJob.
func (j *jobWalker) own(ctx context.Context, of *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	return endstate.JobObjects(ctx, cluster.Client, of)
}

// deleteJob deletes a Job that has ended: it has run, and does not run again.
func deleteJob(propagation client.PropagationPolicy) func(context.Context, *jobWalker) (string, error) {
	return func(ctx context.Context, j *jobWalker) (string, error) {
		objects, err := j.own(ctx, j.job)
		for _, object := range objects {
			if object.GetKind() == "Job" && !j.waits {
				j.deleted = true
				return object.GetName(), client.IgnoreNotFound(cluster.Client.Delete(ctx, object, propagation))
			}
		}
		return "", err
	}
}

// jobPatch patches a ConfigMap, if there is one.
func jobPatch(patch string) func(context.Context, *jobWalker) (string, error) {
	return func(ctx context.Context, j *jobWalker) (string, error) {
		objects, err := j.own(ctx, j.job)
		if err != nil || len(objects) == 0 || objects[0].GetKind() == "Job" {
			return "", err
		}
		err = cluster.Client.Patch(ctx, objects[0], client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("somebody"))
		return objects[0].GetKind(), client.IgnoreNotFound(err)
	}
}

func deleteJobRecord(ctx context.Context, j *jobWalker) (string, error) {
	return deleteRecord(ctx, j.walker, 0)
}

// orphanJob makes the AppJob again over its objects, if its Job is among them: what that ran does not run again.
func orphanJob(ctx context.Context, j *jobWalker) (string, error) {
	if j.waits || j.deleted {
		return "", nil
	}
	again := appJob(j.job.GetNamespace(), j.job.Object["spec"].(map[string]any))
	again.SetAnnotations(j.job.GetAnnotations())
	return "it is made again", deletedAndMade(ctx, again)
}

// end compares the walk with a fresh install, and sees the operator come to rest.
func (j *jobWalker) end(ctx context.Context) error {
	fresh := appJob(j.fresh, j.job.Object["spec"].(map[string]any))
	fresh.SetAnnotations(j.job.GetAnnotations())
	if err := cluster.Client.Create(ctx, fresh); err != nil {
		return err
	}
	err := eventually(ctx, func() error {
		wanted, err := j.state(ctx, fresh)
		if err != nil {
			return err
		}
		got, err := j.state(ctx, j.job)
		if err != nil {
			return err
		}
		if different := compared(wanted, got); len(different) > 0 {
			return errors.New("it is not like a fresh install:\n" + strings.Join(different, "\n"))
		}
		return nil
	})
	return cmp.Or(err, j.restsWith(ctx, j.job, func(harness.Request) bool { return false }), j.settle(ctx))
}

// state is what an AppJob has become: its objects, and what its status notes. A Job that has ended stays as it ran, and one that
// someone deleted stays away.
func (j *jobWalker) state(ctx context.Context, job *unstructured.Unstructured) (map[string]any, error) {
	if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
		return nil, err
	}
	objects, err := j.own(ctx, job)
	like := &v1.AppService{}
	like.Namespace = job.GetNamespace()
	runs, _, _ := unstructured.NestedSlice(job.Object, "status", "runs")
	state := map[string]any{"status": endstate.Anonymous(like, map[string]any{"phase": "", "runs": withoutUIDs(runs)})}
	for _, object := range objects {
		if object.GetKind() != "Job" {
			state[object.GetKind()+" "+object.GetName()] = endstate.Anonymous(like, object.Object)
		} else if !j.deleted {
			state["Job "+object.GetName()] = endstate.Anonymous(like, podsOf(object))
		}
	}
	return state, err
}

func withoutUIDs(runs []any) []any {
	for _, run := range runs {
		delete(run.(map[string]any), "uid")
	}
	return runs
}

// podsOf is the pod template of a Job, without the UID of the Job.
func podsOf(job *unstructured.Unstructured) map[string]any {
	template, _, _ := unstructured.NestedMap(job.Object, "spec", "template")
	for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
		unstructured.RemoveNestedField(template, "metadata", "labels", label)
	}
	return map[string]any{"spec": map[string]any{"template": template}}
}
