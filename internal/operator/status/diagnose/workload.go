package diagnose

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Workload is an object that creates pods, of any kind. All differences between kinds are in the functions that return
// it.
type Workload struct {
	kube.Key
	Namespace string
	UID       types.UID
	Template  *corev1.PodTemplateSpec
	// Selector of its pods, and perhaps of others; see cast.
	Selector *metav1.LabelSelector
	// Noticed reports whether its controller has observed the newest spec: otherwise its status is about an earlier one.
	Noticed bool
	// Settled reports whether its pods need not be read, judging by its status.
	Settled bool
	// Over reports whether it has failed permanently: its pods no longer change.
	Over bool

	// Desired is how many pods it should have, and Unavailable how many of them are not available; 0 for Jobs.
	Desired, Unavailable int32
	// ByHand reports whether whoever deletes a pod decides when it is updated.
	ByHand bool
	// Kept is how many of the wanted pods keep an earlier revision by design.
	Kept int32
	Counts
	// sets reports whether ReplicaSets stand between it and its pods.
	sets bool
	// Refused reports whether a condition says that pods are refused. Its message is of the first refusal of a row.
	Refused bool
	// creator returns the object whose events say why pods are missing; empty if none are.
	creator func(f *Findings) types.UID
	// cast returns its pods by version; nil if that is not known.
	cast func(f *Findings) *cast
	// refusal returns the API server's message when it refused a pod.
	refusal func(f *Findings) (string, bool)
	// failure returns why it has failed permanently; nil for kinds that never do.
	failure func(f *Findings) []Cause
}

// Counts are the numbers of pods in a status. They change when a workload makes progress; those of Jobs count other
// states.
type Counts struct{ All, Updated, Ready, Available int32 }

// cast holds the pods of a workload that count.
type cast struct {
	// present are those of the present version that have not ended.
	present []*corev1.Pod
	// earlier are those of the versions before.
	earlier []*corev1.Pod
	// blocking are those of earlier versions that the present one waits for.
	blocking []*corev1.Pod
	// ended is the pod that failed last; nil unless the pods are meant to end.
	ended *corev1.Pod
	// leaving are those that are being deleted, if the workload waits until they are gone, the first one first.
	leaving []*corev1.Pod
}

// WorkloadOf returns the workload of an object; false for objects that create no pods, or whose outline alone is known.
func WorkloadOf(object client.Object) (*Workload, bool) {
	switch object := kube.Typed(object).(type) {
	case *appsv1.Deployment:
		return deployment(object), true
	case *appsv1.ReplicaSet:
		return replicaSet(object), true
	case *appsv1.StatefulSet:
		return statefulSet(object), true
	case *appsv1.DaemonSet:
		return daemonSet(object), true
	case *batchv1.Job:
		return job(object), true
	case *batchv1.CronJob:
		return cronJob(object), true
	}
	return nil, false
}

// workload returns a Workload with the fields that all kinds have.
func workload(group, kind string, object client.Object, selector *metav1.LabelSelector,
	template *corev1.PodTemplateSpec) *Workload {
	return &Workload{
		Key:       kube.Key{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: object.GetName()},
		Namespace: object.GetNamespace(),
		UID:       object.GetUID(),
		Template:  template,
		Selector:  selector,
		Noticed:   true,
	}
}

// going reports whether a pod is being deleted, or has ended.
func going(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || kube.PodEnded(pod)
}

// byVersion returns the pods that are not going: those of the present version, and those of earlier ones.
func byVersion(pods []*corev1.Pod, present func(*corev1.Pod) bool) *cast {
	out := &cast{}
	for _, pod := range pods {
		switch {
		case going(pod):
		case present(pod):
			out.present = append(out.present, pod)
		default:
			out.earlier = append(out.earlier, pod)
		}
	}
	return out
}

// all treats each pod as one of the present version.
func all(*corev1.Pod) bool { return true }

// isReady reports whether a pod may receive traffic.
func isReady(pod *corev1.Pod) bool {
	ready := condition(pod, corev1.PodReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// controlled returns the pods that an owner controls, by name.
func (f *Findings) controlled(by types.UID) []*corev1.Pod {
	return f.podsThat(func(pod *corev1.Pod) bool {
		controller := metav1.GetControllerOfNoCopy(pod)
		return controller != nil && controller.UID == by
	})
}

// podsThat returns the pods that satisfy a predicate, by name.
func (f *Findings) podsThat(is func(*corev1.Pod) bool) []*corev1.Pod {
	var list []*corev1.Pod
	for i := range f.Pods {
		if pod := &f.Pods[i]; is(pod) {
			list = append(list, pod)
		}
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// missesPods sets whether pods of a workload are missing, so that only its events say why.
func (w *Workload) missesPods(short bool) {
	w.creator = func(*Findings) types.UID {
		if short {
			return w.UID
		}
		return ""
	}
}

// refusedByEvent returns the API server's message when it refused a pod of a workload, as its controller repeats it in
// an event. A pod that was created since shows that it is over.
func (w *Workload) refusedByEvent(f *Findings) (string, bool) {
	if w.creator(f) == "" {
		return "", false
	}
	refused := f.eventsOf(w.UID, "FailedCreate")
	created := f.eventsOf(w.UID, "SuccessfulCreate")
	if len(refused) == 0 || len(created) > 0 && lastTime(created[0]).After(lastTime(refused[0])) {
		return "", false
	}
	return refused[0].Message, true
}
