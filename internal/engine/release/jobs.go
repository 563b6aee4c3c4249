package release

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// queueName is the label by which Kueue takes over when a Job starts: it sets spec.suspend itself.
const queueName = "kueue.x-k8s.io/queue-name"

// The values of the annotation v1.AnnotationStarted.
const (
	startedOnce = "true"
	stopped     = "suspended" // by spec.suspend
)

// EarlierRunError reports that a Job cannot start because something of an earlier run is left.
type EarlierRunError struct {
	Left []string // pods first
	// Jobs are those that are not noted and not being deleted, whether the caches show them or not.
	Jobs []jobs.Job
	// Going are those of them that are being deleted.
	Going []*kube.Deletion
}

// Deletions returns those that are waited for.
func (e *EarlierRunError) Deletions() []*kube.Deletion { return e.Going }

func (e *EarlierRunError) Error() string {
	more := ""
	if len(e.Left) > 1 {
		more = fmt.Sprintf(" and %d more", len(e.Left)-1)
	}
	text := fmt.Sprintf("the Job starts when the previous run has ended: %s%s", e.Left[0], more)
	if len(e.Going) == 0 { // else their remedy is the hint
		text += ". If that node is lost, delete the Node, or the pod with kubectl delete --force"
	}
	return text
}

// JobOf returns the state of a live Job.
func JobOf(job *batchv1.Job) jobs.Job {
	out := jobs.Job{Name: job.Name, UID: job.UID, Deleting: job.DeletionTimestamp != nil}
	for _, condition := range job.Status.Conditions {
		switch {
		case condition.Status != corev1.ConditionTrue:
		case condition.Type == batchv1.JobComplete:
			out.Result = v1.RunComplete
		case condition.Type == batchv1.JobFailed:
			out.Result = v1.RunFailed
		}
	}
	out.Started = job.Annotations[v1.AnnotationStarted] != "" || !ptr.Deref(job.Spec.Suspend, false) ||
		job.Status.StartTime != nil || out.Result != ""
	return out
}

// CreateJob creates a rendered Job, suspended. One of its name that an earlier resource left is taken back.
func (a *Actor) CreateJob(ctx context.Context, owner, desired *unstructured.Unstructured) (*batchv1.Job, error) {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	writes := a.applier(session, owner, nil)
	created := desired.DeepCopy()
	_ = unstructured.SetNestedField(created.Object, true, "spec", "suspend")
	unstructured.RemoveNestedField(created.Object, "metadata", "labels", queueName)
	written, err := writes.apply(ctx, plan.Change{Desired: created})
	if apierrors.IsConflict(err) {
		live, lookErr := writes.ours(ctx, desired)
		switch {
		case lookErr != nil:
			return nil, lookErr
		case live == nil || controls(owner, live):
			return nil, &StaleError{err}
		}
		written = identity(desired)
		back := map[string]any{"ownerReferences": desired.GetOwnerReferences()}
		err = patchJob(ctx, writes, written, live, back, nil)
	}
	if err != nil {
		return nil, err
	}
	return kube.As[batchv1.Job](written), nil
}

// patchJob patches a Job in the version in which it was read.
func patchJob(ctx context.Context, a *applier, into *unstructured.Unstructured, live client.Object, metadata,
	spec map[string]any) error {
	metadata = maps.Clone(metadata)
	metadata["uid"], metadata["resourceVersion"] = live.GetUID(), live.GetResourceVersion()
	content := map[string]any{"metadata": metadata}
	if spec != nil {
		content["spec"] = spec
	}
	patch, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return a.session.Patch(ctx, into, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
}

// StartJob starts a Job that was created suspended, once nothing of an earlier run is left: an EarlierRunError says
// what is. Present is called after the Job was read, and returns an error unless the resource is still what the start
// was decided from. All reads are live.
func (a *Actor) StartJob(ctx context.Context, owner, desired *unstructured.Unstructured, job jobs.Job,
	noted []v1.RunStatus, runs []jobs.Run, present func() error) error {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	for attempt := 1; ; attempt++ {
		live, err := a.liveJob(ctx, owner, job)
		if apierrors.IsNotFound(err) {
			return &StaleError{err}
		}
		if err != nil {
			return err
		}
		if known := JobOf(live); known.Started || known.Deleting {
			return &StaleError{fmt.Errorf("job %s has changed", job.Name)}
		}
		if err := present(); err != nil {
			return err
		}
		if err := a.EarlierRuns(ctx, owner, noted, runs); err != nil {
			return err
		}
		metadata, spec := map[string]any{"annotations": map[string]any{v1.AnnotationStarted: startedOnce}},
			map[string]any{"suspend": false}
		if queue := desired.GetLabels()[queueName]; queue != "" {
			metadata["labels"], spec = map[string]any{queueName: queue}, nil
		}
		err = patchJob(ctx, a.applier(session, owner, nil), identity(desired), live, metadata, spec)
		if !apierrors.IsConflict(err) || attempt == statusRaces {
			return err
		}
	}
}

// DeleteJob deletes the Job of an earlier run, after its pods. Present is as for StartJob.
func (a *Actor) DeleteJob(ctx context.Context, owner *unstructured.Unstructured, job jobs.Job,
	present func() error) error {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	live, err := a.liveJob(ctx, owner, job)
	if apierrors.IsNotFound(err) {
		live = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: job.Name, UID: job.UID}}
		live.SetGroupVersionKind(jobKind)
		a.writer.Observer.Deleted(owner.GetUID(), live)
		return nil
	}
	if err != nil || live.DeletionTimestamp != nil {
		return err
	}
	if err := present(); err != nil {
		return err
	}
	only := client.Preconditions{UID: ptr.To(live.UID), ResourceVersion: ptr.To(live.ResourceVersion)}
	if err := a.writer.Client.Delete(ctx, live, only,
		client.PropagationPolicy(metav1.DeletePropagationForeground)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	return nil
}

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// LiveJob reads a Job from the API server; nil if it is gone. Without a UID, it is that of the owner.
func (a *Actor) LiveJob(ctx context.Context, owner client.Object, run v1.RunStatus) (*batchv1.Job, error) {
	live, err := a.liveJob(ctx, owner, jobs.Job{Name: run.Job, UID: run.UID})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

func (a *Actor) liveJob(ctx context.Context, owner client.Object, job jobs.Job) (*batchv1.Job, error) {
	live := &batchv1.Job{}
	err := a.live.Get(ctx, types.NamespacedName{Namespace: owner.GetNamespace(), Name: job.Name}, live)
	if err == nil && live.UID != job.UID && (job.UID != "" || !metav1.IsControlledBy(live, owner)) {
		err = apierrors.NewNotFound(batchv1.Resource("jobs"), job.Name)
	}
	live.SetGroupVersionKind(jobKind)
	return live, err
}

// unended are the pods that have not ended.
var unended = fields.ParseSelectorOrDie("status.phase!=Succeeded,status.phase!=Failed")

// EarlierRuns returns an EarlierRunError if anything is left of an earlier run: a Job that is not noted, or a pod that
// has not ended and is not of a noted Job.
func (a *Actor) EarlierRuns(ctx context.Context, owner client.Object, noted []v1.RunStatus, runs []jobs.Run) error {
	isNoted := func(uid types.UID) bool {
		return slices.ContainsFunc(noted, func(run v1.RunStatus) bool { return run.UID == uid })
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("JobList"))
	if err := a.live.List(ctx, all, client.InNamespace(owner.GetNamespace())); err != nil {
		return fmt.Errorf("cannot list Jobs: %w", err)
	}
	own, others := map[types.UID]bool{}, map[types.UID]bool{}
	var left, running []string
	out := &EarlierRunError{}
	describe := func(object client.Object) string {
		going := kube.DeletionOf(object)
		if going == nil {
			return ""
		}
		out.Going = append([]*kube.Deletion{going}, out.Going...) // a Job goes after its pods
		return fmt.Sprintf(" (being deleted %s)", going)
	}
	for i := range all.Items {
		job := &all.Items[i]
		job.SetGroupVersionKind(jobKind)
		controller := metav1.GetControllerOfNoCopy(job)
		switch mine := metav1.IsControlledBy(job, owner); {
		case !mine && controller != nil && controller.Name == owner.GetName() &&
			kube.OfKind(controller, owner.GetObjectKind().GroupVersionKind().GroupKind()):
			own[job.UID] = true // of an earlier resource of the name: the garbage collector deletes it
			left = append(left, "Job "+job.Name+describe(job))
		case !mine:
			others[job.UID] = true
		case jobs.RunsOnce(job) && !isNoted(job.UID):
			own[job.UID] = true
			left = append(left, "Job "+job.Name+describe(job))
			if job.DeletionTimestamp == nil {
				out.Jobs = append(out.Jobs, jobs.Job{Name: job.Name, UID: job.UID})
			}
		}
	}
	pods := &corev1.PodList{}
	of := []client.ListOption{client.InNamespace(owner.GetNamespace()), client.HasLabels{batchv1.JobNameLabel}}
	if len(out.Going) == 0 { // else one that has ended may hold its Job
		of = append(of, client.MatchingFieldsSelector{Selector: unended})
	}
	if err := a.live.List(ctx, pods, of...); err != nil {
		return fmt.Errorf("cannot list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		controller := metav1.GetControllerOfNoCopy(pod)
		ended := kube.PodEnded(pod)
		if controller != nil && (isNoted(controller.UID) || others[controller.UID]) || ended && pod.DeletionTimestamp == nil {
			continue
		}
		named := slices.ContainsFunc(runs, func(run jobs.Run) bool { return run.Named(pod.Labels[batchv1.JobNameLabel]) })
		if named || controller != nil && own[controller.UID] {
			running = append(running, fmt.Sprintf("Pod %s on node %q%s", pod.Name, pod.Spec.NodeName, describe(pod)))
		}
	}
	if out.Left = slices.Concat(running, left); len(out.Left) > 0 {
		return out
	}
	return nil
}

// ChangeJob applies to a live Job what may change of a rendered one: its labels and annotations, and some fields of its
// spec. It starts again only what spec.suspend has stopped.
func (a *Actor) ChangeJob(ctx context.Context, owner, desired *unstructured.Unstructured, live *batchv1.Job) error {
	job := JobOf(live)
	if job.Deleting || job.Result != "" {
		return nil
	}
	wanted, err := changed(desired, live, job.Started)
	if err != nil {
		return err
	}
	if plan.CompareObject(wanted, live) == nil {
		return nil
	}
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	_, err = a.applier(session, owner, nil).apply(ctx, plan.Change{Desired: wanted, Live: live})
	return err
}

// changed returns a rendered Job with those fields of the live one that cannot change.
func changed(desired *unstructured.Unstructured, live *batchv1.Job, started bool) (*unstructured.Unstructured, error) {
	have, _ := kube.Content(live)
	old, _, _ := unstructured.NestedMap(have, "spec")
	out := desired.DeepCopy()
	spec, _, err := unstructured.NestedMap(out.Object, "spec")
	if err != nil {
		return nil, err
	}
	wanted, _ := spec["suspend"].(bool)
	mayChange := func(field string, _ any) bool { return slices.Contains(jobs.Changeable, field) }
	maps.DeleteFunc(spec, func(field string, value any) bool { return !mayChange(field, value) })
	maps.DeleteFunc(old, mayChange)
	maps.Copy(spec, old)
	spec["suspend"] = true
	if started {
		mark := startedOnce
		spec["suspend"] = ptr.Deref(live.Spec.Suspend, false)
		switch {
		case out.GetLabels()[queueName] != "":
		case wanted:
			spec["suspend"], mark = true, stopped
		case live.Annotations[v1.AnnotationStarted] == stopped:
			spec["suspend"] = false
		}
		annotations := out.GetAnnotations()
		annotations[v1.AnnotationStarted] = mark
		out.SetAnnotations(annotations)
	} else {
		unstructured.RemoveNestedField(out.Object, "metadata", "labels", queueName)
	}
	out.Object["spec"] = spec
	return out, nil
}

// NameIsFree returns a NotOursError or a PreviousError if a Helm release of another owner has the name of a resource.
func (a *Actor) NameIsFree(ctx context.Context, owner *unstructured.Unstructured) error {
	session := a.writer.Begin(owner.GetUID())
	defer session.End()
	return a.records(session, owner).free(ctx)
}
