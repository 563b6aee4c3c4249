//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	jobKind = "AppJob"
	// holdFinalizer keeps a pod that is deleted, as a node does that is slow to stop it.
	holdFinalizer = "faults.example.com/hold"
	// scripted is the annotation of a pod that says what the simulated node does with it.
	scripted = "script.kwok.x-k8s.io/status"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// onlyPodsOfJobs restricts the watch of pods to those of Jobs.
func onlyPodsOfJobs() map[client.Object]cache.ByObject {
	ofJobs, err := labels.NewRequirement(batchv1.JobNameLabel, selection.Exists, nil)
	if err != nil {
		panic(err)
	}
	pod := &unstructured.Unstructured{}
	pod.SetGroupVersionKind(podKind)
	return map[client.Object]cache.ByObject{pod: {Label: labels.NewSelector().Add(*ofJobs)}}
}

// ledger is what the AppJob, or the release task of the AppService, of a namespace was asked to run, and the runs. It
// is filled from the writes of the test and from watches, and knows nothing of how the operator identifies a run.
type ledger struct {
	kind     string
	plan     string
	asked    []string                              // what should run, again each time that this changed
	wanted   bool                                  // the AppJob was not deleted
	held     bool                                  // spec.suspend holds it back
	ran      []string                              // the Jobs that were ever not suspended, in order
	jobs     map[types.UID]bool                    // those Jobs
	began    []*unstructured.Unstructured          // they, when that was first seen
	rolled   map[string]*unstructured.Unstructured // by image, a Deployment when it was first seen with that
	again    string                                // the last request to run a task again
	untasked map[string]bool                       // images of a spec without a release task
	pods     map[types.UID]jobPod                  // that have not ended
	overlaps []string
	waits    map[string]string // by image, the script of a release task that does not end well on its own
	early    []string          // of these, what was rolled out
	says     string            // the messages of its conditions; empty if there is no AppJob that waits
	there    bool
	freed    map[types.UID]bool
}

// jobPod is a pod that has not ended.
type jobPod struct {
	job           types.UID
	name          string
	held, deleted bool
}

// counts makes the stage one of a kind whose runs are counted from now on.
func (s *stage) counts(plan, kind string) {
	s.kind = kind
	seen.mu.Lock()
	defer seen.mu.Unlock()
	seen.ledgers[s.namespace] = &ledger{
		kind: kind, plan: plan, jobs: map[types.UID]bool{}, pods: map[types.UID]jobPod{}, waits: map[string]string{}, freed: map[types.UID]bool{},
		rolled: map[string]*unstructured.Unstructured{}, untasked: map[string]bool{},
	}
}

// asked records the runs that a written AppJob or AppService requests.
func (w *world) asked(app *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.ledgers[app.GetNamespace()]
	if l == nil || app.GetKind() != l.kind {
		return
	}
	if _, runs, _ := unstructured.NestedMap(app.Object, "spec", "release"); l.kind == v1.Kind && !runs {
		l.wanted = false
		image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
		l.untasked[image] = true
		return
	}
	if what := askedBy(app); !l.wanted || what != l.asked[len(l.asked)-1] || l.runsAgain(app) {
		l.asked = append(l.asked, what)
		l.waitsFor(app)
	}
	l.again = app.GetAnnotations()[v1.AnnotationRestartedAt]
	l.wanted = true
	l.held, _, _ = unstructured.NestedBool(app.Object, "spec", "suspend")
}

// unasked records that an AppJob is deleted.
func (w *world) unasked(app *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.ledgers[app.GetNamespace()]; l != nil && app.GetKind() == l.kind {
		l.wanted = false
	}
}

// askedBy and ranBy return what an AppJob or a release task should run, and what a Job runs, in the same form. Only a
// task that failed runs again on request.
func askedBy(app *unstructured.Unstructured) string {
	image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
	if app.GetKind() == v1.Kind {
		args, _, _ := unstructured.NestedStringSlice(app.Object, "spec", "release", "args")
		return fmt.Sprint(image, args, "", "")
	}
	args, _, _ := unstructured.NestedStringSlice(app.Object, "spec", "args")
	script, _, _ := unstructured.NestedString(app.Object, "spec", "podAnnotations", scripted)
	return fmt.Sprint(image, args, script, app.GetAnnotations()[v1.AnnotationRestartedAt])
}

func ranBy(job *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	container, _ := containers[0].(map[string]any)
	args, _, _ := unstructured.NestedStringSlice(container, "args")
	annotations, _, _ := unstructured.NestedStringMap(job.Object, "spec", "template", "metadata", "annotations")
	if container["name"] == "release" {
		annotations = nil
	}
	return fmt.Sprint(container["image"], args, annotations[scripted], annotations[v1.AnnotationRestartedAt])
}

// noteRuns processes an event of a Job, a pod or an AppJob.
func (w *world) noteRuns(object *unstructured.Unstructured, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.ledgers[object.GetNamespace()]
	if l == nil {
		return
	}
	switch object.GetKind() {
	case "Job":
		l.noteJob(object)
	case podKind.Kind:
		l.notePod(object, gone)
	case "Deployment":
		l.noteRollout(object)
	case l.kind:
		l.there = !gone && object.GetDeletionTimestamp() == nil
		l.says = fmt.Sprint(object.Object["status"])
	}
	for uid, pod := range l.pods {
		if pod.held && pod.deleted && !l.freed[uid] && (!l.there || strings.Contains(l.says, "Pod "+pod.name)) {
			l.freed[uid] = true
			go free(object.GetNamespace(), pod.name)
		}
	}
}

// noteJob counts a Job that is not suspended, once.
func (l *ledger) noteJob(job *unstructured.Unstructured) {
	suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
	if suspended || l.jobs[job.GetUID()] {
		return
	}
	l.jobs[job.GetUID()] = true
	l.ran, l.began = append(l.ran, ranBy(job)), append(l.began, job)
}

// notePod notes when pods of two Jobs have not ended.
func (l *ledger) notePod(pod *unstructured.Unstructured, gone bool) {
	controller := metav1.GetControllerOf(pod)
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	held := slices.Contains(pod.GetFinalizers(), holdFinalizer)
	if gone || controller == nil || phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed) {
		delete(l.pods, pod.GetUID())
		if !gone && held && !l.freed[pod.GetUID()] {
			l.freed[pod.GetUID()] = true
			go free(pod.GetNamespace(), pod.GetName())
		}
		return
	}
	l.pods[pod.GetUID()] = jobPod{controller.UID, pod.GetName(), held, pod.GetDeletionTimestamp() != nil}
	for _, other := range l.pods {
		if other.job != controller.UID {
			l.overlaps = append(l.overlaps, other.name+" and "+pod.GetName())
		}
	}
}

// twice lists runs that happened more often than they were requested.
func (l *ledger) twice() []string {
	more := map[string]int{}
	for _, what := range l.ran {
		more[what]++
	}
	for _, what := range l.asked {
		more[what]--
	}
	maps.DeleteFunc(more, func(_ string, times int) bool { return times <= 0 })
	return slices.Sorted(maps.Keys(more))
}

// lost returns the last requested run, if it is not the last run.
func (l *ledger) lost() string {
	if l.wanted && !l.held && (len(l.ran) == 0 || l.ran[len(l.ran)-1] != l.asked[len(l.asked)-1]) {
		return l.asked[len(l.asked)-1]
	}
	return ""
}

// imagesRun returns the images of the Jobs that have run in a namespace, in order.
func (w *world) imagesRun(namespace string) (images []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.ledgers[namespace]; l != nil {
		for _, job := range l.began {
			images = append(images, imageIn(job))
		}
	}
	return images
}

// runs returns what has run in a namespace, in order, and the pods that have not ended.
func (w *world) runs(namespace string) (ran []string, pods int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.ledgers[namespace]
	return slices.Clone(l.ran), len(l.pods)
}

// judge fails the plans of AppJobs that ran more often than asked, or while an earlier run continued, or not at all.
func (w *world) judge(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, namespace := range slices.Sorted(maps.Keys(w.ledgers)) {
		l := w.ledgers[namespace]
		twice, lost := l.twice(), l.lost()
		tally.ran(len(twice), len(l.overlaps) > 0, lost != "")
		if len(twice) > 0 {
			tally.fail(t, l.plan, false, "twice: it ran %q, and was asked for %q", l.ran, l.asked)
		}
		if len(l.overlaps) > 0 {
			tally.fail(t, l.plan, false, "overlapped: of two runs there were the pods %v at once", l.overlaps)
		}
		if len(l.early) > 0 {
			tally.fail(t, l.plan, false, "early: before its task has succeeded, there was a Deployment of %v", l.early)
		}
		if early := l.before(); len(early) > 0 {
			tally.fail(t, l.plan, false, "early: before its task has begun, there was a Deployment of %v", early)
		}
		if lost != "" {
			tally.fail(t, l.plan, false, "lost: it ran %q, and was asked for %q", l.ran, l.asked)
		}
	}
}

// holdPods keeps each pod of the AppJob that has not ended, once it is deleted, until the status says that it is
// waited for: an operator that does not wait starts the next run meanwhile.
func (s *stage) holdPods(t *testing.T) {
	t.Helper()
	if s.kind != jobKind {
		return
	}
	list := &corev1.PodList{}
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(s.namespace), client.HasLabels{batchv1.JobNameLabel}); err != nil {
		t.Fatalf("cannot list pods: %v", err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || slices.Contains(pod.Finalizers, holdFinalizer) {
			continue
		}
		harness.Eventually(t, "hold a pod", func() error {
			return client.IgnoreNotFound(refinalize(t.Context(), pod, func(list []string) []string { return append(list, holdFinalizer) }))
		})
	}
}

// free lets a pod go.
func free(namespace, name string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	_ = poll.UntilWithin(context.Background(), patience, func(ctx context.Context) error { // a plan whose pod stays is stuck
		return client.IgnoreNotFound(refinalize(ctx, pod, func(list []string) []string {
			return slices.DeleteFunc(list, func(one string) bool { return one == holdFinalizer })
		}))
	})
}

// refinalize reads a pod and changes its finalizers.
func refinalize(ctx context.Context, pod *corev1.Pod, change func([]string) []string) error {
	if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
		return err
	}
	pod.Finalizers = change(pod.Finalizers)
	return cluster.Client.Update(ctx, pod)
}
