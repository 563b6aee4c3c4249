package model

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	chartfiles "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
)

var (
	appJob = v1.GroupVersion.WithKind("AppJob")
	keyJob = kube.Key{GroupKind: appJob.GroupKind(), Name: name}
)

// once is an AppJob without a schedule, rendered by its own chart.
var once = onceShape()

func onceShape() *shape {
	loaded, err := chartfiles.Load(appservice.Files, "helm-charts/appjob")
	if err != nil {
		panic(err) // it is embedded
	}
	return &shape{
		kind:  appJob,
		chart: loaded,
		specs: []map[string]any{
			{"image": "one"},
			{"image": "two"},
			{"image": "one", "retries": int64(1)},
			{"image": "one", "suspend": true},
		},
		renders: []schema.GroupVersionKind{batchJob},
		changes: onceChanges(),
		writes:  3,
		allowed: startsOnce,
		waits:   hasNotRun,
		ended:   hasRun,
	}
}

// onceChanges are what others do to an AppJob and to what it runs.
func onceChanges() []act {
	return []act{
		{"pods end", func(w *world) bool { return w.server.runs() }, func(_ context.Context, w *world) { w.server.endPods() }},
		changeOf("a user asks for another run", keyJob, func(w *world) {
			w.server.edit(keyJob, func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: "again"})
			})
			w.runs.ask(w.resource())
		}),
		onJob("somebody deletes the Job", func(w *world, key kube.Key) { w.server.remove(key) }),
		onJob("kubectl delete --cascade=orphan of the Job", func(w *world, key kube.Key) {
			if of := podOf(w.server.objects[key]); w.server.objects[of] != nil {
				w.server.edit(of, func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
			}
			w.server.remove(key)
		}),
		onJob("somebody takes off the labels of the Job", func(w *world, key kube.Key) {
			w.server.edit(key, func(o *unstructured.Unstructured) { o.SetLabels(nil) })
		}),
		onJob("somebody takes off the stamp of the Job", func(w *world, key kube.Key) {
			w.server.edit(key, func(o *unstructured.Unstructured) {
				annotations := o.GetAnnotations()
				delete(annotations, "app.example.com/rendered")
				o.SetAnnotations(annotations)
			})
		}),
		madeAgain(keyJob), statusOverwritten(keyJob), recordDeleted(),
	}
}

// onJob is a change of the first Job.
func onJob(text string, do func(*world, kube.Key)) act {
	first := func(w *world) (kube.Key, bool) {
		for _, key := range sorted(w.server.objects) {
			if key.Kind == batchJob.Kind {
				return key, true
			}
		}
		return kube.Key{}, false
	}
	may := func(w *world) bool { _, found := first(w); return w.changes > 0 && found }
	return act{text, may, func(_ context.Context, w *world) {
		w.changes--
		key, _ := first(w)
		do(w, key)
	}}
}

// runs are the runs that were asked for, and those that were started, by what they run.
type runs struct {
	present        string
	asked, started map[string]int
}

func newRuns(resource *unstructured.Unstructured) runs {
	r := runs{asked: map[string]int{}, started: map[string]int{}}
	r.ask(resource)
	return r
}

// ask notes that the Job of a resource should run, if it is another one than before.
func (r *runs) ask(resource *unstructured.Unstructured) {
	image, _, _ := unstructured.NestedString(resource.Object, "spec", "image")
	wanted := string(resource.GetUID()) + " " + image + " " + resource.GetAnnotations()[v1.AnnotationRestartedAt]
	if wanted != r.present {
		r.present = wanted
		r.asked[wanted]++
	}
}

// runOf returns what a Job runs, in the same words.
func runOf(job *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	container, _ := containers[0].(map[string]any)
	restarted, _, _ := unstructured.NestedString(job.Object, "spec", "template", "metadata", "annotations", v1.AnnotationRestartedAt)
	return fmt.Sprint(ownerOf(job), " ", container["image"], " ", restarted)
}

func suspended(job *unstructured.Unstructured) bool {
	is, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
	return is
}

// startsOnce returns an error if the operator starts a Job once more than its run was asked for, or while something else runs, or creates one
// that is not suspended.
func startsOnce(w *world, key kube.Key, before *unstructured.Unstructured) error {
	job := w.server.objects[key]
	switch {
	case key.Kind != batchJob.Kind || job == nil || suspended(job):
		return nil
	case before == nil:
		return errors.New("it is created without being suspended")
	case !suspended(before):
		return nil
	case before.GetAnnotations()[v1.AnnotationStarted] == "suspended":
		return nil // it continues
	}
	run := runOf(job)
	if w.runs.started[run]++; w.runs.started[run] > w.runs.asked[run] {
		return fmt.Errorf("run %q starts %d times, and was asked for %d times", run, w.runs.started[run], w.runs.asked[run])
	}
	return w.startsAlone(job)
}

// startsAlone returns an error if there is another Job of the resource that was started, or another pod that has not ended.
func (w *world) startsAlone(job *unstructured.Unstructured) error {
	for _, key := range sorted(w.server.objects) {
		other := w.server.objects[key]
		switch {
		case running(other) && !metav1.IsControlledBy(other, job):
			return fmt.Errorf("it starts while %s runs", key)
		case key.Kind == batchJob.Kind && other.GetUID() != job.GetUID() && ownerOf(other) == ownerOf(job) && !suspended(other):
			return fmt.Errorf("it starts beside %s", key)
		}
	}
	return nil
}

// interrupted is a Job that changed while its pod has not ended.
func interrupted(ctx context.Context) *world {
	w := newWorld(once)
	w.process.reconcile(ctx)
	for _, kind := range once.kinds() {
		w.deliver(kind)
	}
	w.become(1)
	w.deliver(appJob.Kind)
	return w
}

// hasNotRun reports whether a Job is suspended before it starts, or nobody knows how it ended.
func hasNotRun(w *world) bool {
	noted, _, _ := unstructured.NestedSlice(w.resource().Object, "status", "runs")
	stopped, _, _ := unstructured.NestedBool(w.resource().Object, "spec", "suspend")
	if len(noted) != 1 {
		return false
	}
	result := noted[0].(map[string]any)["result"]
	return result == string(v1.RunUnknown) || result == nil && stopped
}

// hasRun returns an error unless what is asked for last has run, or the status says that nobody knows, or it is suspended.
func hasRun(w *world) error {
	noted, _, _ := unstructured.NestedSlice(w.resource().Object, "status", "runs")
	if len(noted) != 1 {
		return fmt.Errorf("there is one Job to run, and the status notes %v", noted)
	}
	run, _ := noted[0].(map[string]any)
	switch {
	case hasNotRun(w):
		return nil
	case run["result"] != string(v1.RunComplete):
		return fmt.Errorf("all pods have ended, and the status notes %v", run)
	case w.runs.started[w.runs.present] == 0:
		return fmt.Errorf("run %q never started, and the status notes %v", w.runs.present, run)
	}
	return nil
}
