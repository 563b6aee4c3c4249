// Package conversion decides how an AppService moves between a Deployment and a StatefulSet, or to a StatefulSet with
// other claims: what is done next, what becomes of the data, and what prevents it. All of it follows from what is in
// the cluster, so that an interrupted conversion continues. It writes nothing.
package conversion

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// An AppService moves between workloads of these kinds.
var (
	deploymentKind  = appsv1.SchemeGroupVersion.WithKind("Deployment")
	statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	workloads       = []schema.GroupVersionKind{deploymentKind, statefulSetKind}
)

// Workload is a Deployment or a StatefulSet, live or rendered. A Deployment has all of a StatefulSet that matters here.
type Workload struct{ appsv1.StatefulSet }

// WorkloadOf returns an object as a workload.
func WorkloadOf(object *unstructured.Unstructured) (*Workload, error) {
	w := &Workload{}
	return w, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &w.StatefulSet)
}

// Key identifies the workload.
func (w *Workload) Key() kube.Key {
	return kube.Key{GroupKind: w.GroupVersionKind().GroupKind(), Name: w.Name}
}

// Object returns what identifies it, and its metadata.
func (w *Workload) Object() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: w.TypeMeta, ObjectMeta: w.ObjectMeta}
}

// Size returns the number of replicas that it has, or starts with.
func (w *Workload) Size() int {
	if w.Spec.Replicas == nil { // rendered, for an autoscaler
		if initial, err := strconv.Atoi(w.Annotations[v1.AnnotationInitialReplicas]); err == nil {
			return initial
		}
	}
	return int(ptr.Deref(w.Spec.Replicas, 1))
}

// templates returns the names of its claim templates, sorted.
func (w *Workload) templates() []string {
	names := make([]string, 0, len(w.Spec.VolumeClaimTemplates))
	for i := range w.Spec.VolumeClaimTemplates {
		names = append(names, w.Spec.VolumeClaimTemplates[i].Name)
	}
	slices.Sort(names)
	return names
}

// volume returns the name of the volume with which its pods mount a claim, or would with more replicas; empty if none
// does.
func (w *Workload) volume(claim string) string {
	for _, volume := range w.Spec.Template.Spec.Volumes {
		if source := volume.PersistentVolumeClaim; source != nil && source.ClaimName == claim {
			return volume.Name
		}
	}
	for _, template := range w.templates() {
		ordinal, of := strings.CutPrefix(claim, template+"-"+w.Name+"-")
		if _, err := strconv.ParseUint(ordinal, 10, 31); of && err == nil {
			return template
		}
	}
	return ""
}

// mounts reports whether its pods mount a claim, or would with more replicas.
func (w *Workload) mounts(claim string) bool { return w.volume(claim) != "" }

// claims returns the names of the claims that one of its replicas mounts, sorted.
func (w *Workload) claims(replica int) []string {
	names := mountedBy(&w.Spec.Template.Spec)
	for _, template := range w.templates() {
		names = append(names, template+"-"+w.Name+"-"+strconv.Itoa(replica))
	}
	slices.Sort(names)
	return names
}

// mountedBy returns the names of the claims of a pod, sorted.
func mountedBy(pod *corev1.PodSpec) (names []string) {
	for _, volume := range pod.Volumes {
		if volume.PersistentVolumeClaim != nil {
			names = append(names, volume.PersistentVolumeClaim.ClaimName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// path returns where its main container mounts a volume; empty if it does not.
func (w *Workload) path(volume string) string {
	for _, container := range w.Spec.Template.Spec.Containers {
		for _, mount := range container.VolumeMounts {
			if container.Name == mainContainer && mount.Name == volume && mount.SubPath == "" {
				return mount.MountPath
			}
		}
	}
	return ""
}

// mainContainer is the name of the main container of every AppService.
const mainContainer = "app"

// replicaOf returns the number of a pod of a StatefulSet; -1 if its name has none.
func replicaOf(pod *corev1.Pod) int {
	ordinal := pod.Name[strings.LastIndexByte(pod.Name, '-')+1:]
	number, err := strconv.ParseUint(ordinal, 10, 31)
	if err != nil {
		return -1
	}
	return int(number)
}
