package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// The controllers of the cluster act at once, except for what takes time in every cluster: pods end, and the garbage collector works, when it is
// their turn.

var (
	deployment  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSet = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	claim       = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	batchJob    = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	pod         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// mutable are the fields of a spec that the API server lets change, by kind; all of those of kinds that are missing here.
var mutable = map[string][]string{
	statefulSet.Kind: {"replicas", "template", "updateStrategy", "persistentVolumeClaimRetentionPolicy", "minReadySeconds", "revisionHistoryLimit"},
	batchJob.Kind:    {"activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend", "ttlSecondsAfterFinished"},
	claim.Kind:       {"resources"},
}

// immutable returns the API server's refusal of a change of a field that cannot change.
func immutable(before, after *unstructured.Unstructured) error {
	if before == nil || mutable[after.GetKind()] == nil {
		return nil
	}
	old, _, _ := unstructured.NestedMap(before.Object, "spec")
	spec, _, _ := unstructured.NestedMap(after.Object, "spec")
	for _, field := range mutable[after.GetKind()] {
		delete(old, field)
		delete(spec, field)
	}
	was, _ := json.Marshal(old)
	is, _ := json.Marshal(spec)
	if string(was) != string(is) {
		return apierrors.NewInvalid(after.GroupVersionKind().GroupKind(), after.GetName(), nil)
	}
	return nil
}

// control does to an object what the API server does, and its controller in the status.
func control(before, object *unstructured.Unstructured) {
	switch object.GetKind() {
	case deployment.Kind, statefulSet.Kind:
		replicas, set, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		if !set {
			replicas = 1
			_ = unstructured.SetNestedField(object.Object, replicas, "spec", "replicas")
		}
		number(before, object)
		object.Object["status"] = map[string]any{
			"observedGeneration": object.GetGeneration(), "replicas": replicas, "updatedReplicas": replicas,
			"readyReplicas": replicas, "availableReplicas": replicas,
		}
		if imageOf(object) == broken {
			stall(object, replicas)
		}
	case claim.Kind:
		requests, _, _ := unstructured.NestedMap(object.Object, "spec", "resources", "requests")
		object.Object["status"] = map[string]any{"phase": "Bound", "capacity": requests}
	case batchJob.Kind:
		number(before, object)
	}
}

// broken is the image of a workload whose pods do not become ready.
const broken = "broken"

// imageOf returns the image of a workload; empty if it has none.
func imageOf(workload *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "containers")
	if len(containers) == 0 {
		return ""
	}
	container, _ := containers[0].(map[string]any)
	return fmt.Sprint(container["image"])
}

// stall gives a workload the status of one whose pods have not become ready within its deadline.
func stall(workload *unstructured.Unstructured, replicas int64) {
	workload.Object["status"] = map[string]any{
		"observedGeneration": workload.GetGeneration(), "replicas": replicas, "updatedReplicas": replicas, "unavailableReplicas": replicas,
		"conditions": []any{map[string]any{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "it has timed out"}},
	}
}

// number gives an object the generation of its spec.
func number(before, object *unstructured.Unstructured) {
	if before == nil {
		object.SetGeneration(1)
		return
	}
	was, _ := json.Marshal(before.Object["spec"])
	is, _ := json.Marshal(object.Object["spec"])
	if string(was) != string(is) {
		object.SetGeneration(before.GetGeneration() + 1)
	}
}

// follow makes what the controller of an object makes of it.
func (s *server) follow(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case statefulSet.Kind:
		s.claims(object)
	case batchJob.Kind:
		s.pods(object)
	}
}

// claims makes the claims of the pods of a StatefulSet.
func (s *server) claims(set *unstructured.Unstructured) {
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	replicas, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas")
	for _, template := range templates {
		for ordinal := range replicas {
			made := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(template.(map[string]any))}
			made.SetGroupVersionKind(claim)
			made.SetNamespace(namespace)
			made.SetName(fmt.Sprintf("%s-%s-%d", made.GetName(), set.GetName(), ordinal))
			if key := kube.KeyOf(made); s.objects[key] == nil {
				s.store(key, made)
			}
		}
	}
}

// pods makes the pod of a Job that is not suspended, and deletes that of one that is.
func (s *server) pods(job *unstructured.Unstructured) {
	key := podOf(job)
	suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
	switch {
	case suspended && s.objects[key] != nil && running(s.objects[key]):
		s.remove(key)
	case !suspended && s.objects[key] == nil && job.GetDeletionTimestamp() == nil:
		made := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Running"}}}
		made.SetGroupVersionKind(pod)
		made.SetNamespace(namespace)
		made.SetName(key.Name)
		made.SetLabels(map[string]string{"batch.kubernetes.io/job-name": job.GetName()})
		made.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(job, batchJob)})
		s.store(key, made)
	}
}

func podOf(job *unstructured.Unstructured) kube.Key {
	return kube.Key{GroupKind: pod.GroupKind(), Name: job.GetName() + "-" + string(job.GetUID()) + "pod"}
}

// running reports whether an object is a pod that has not ended.
func running(object *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return object.GetKind() == pod.Kind && phase == "Running"
}

// runs reports whether there is a pod that has not ended.
func (s *server) runs() bool {
	for _, object := range s.objects {
		if running(object) {
			return true
		}
	}
	return false
}

// endPods has all pods succeed, and the Jobs that they are of.
func (s *server) endPods() {
	for _, key := range sorted(s.objects) {
		object := s.objects[key]
		if !running(object) {
			continue
		}
		ended := object.DeepCopy()
		ended.Object["status"] = map[string]any{"phase": "Succeeded"}
		s.store(key, ended)
		for _, other := range sorted(s.objects) {
			if job := s.objects[other]; metav1.IsControlledBy(object, job) && job.GetDeletionTimestamp() == nil {
				s.complete(other)
			}
		}
	}
}

func (s *server) complete(key kube.Key) {
	job := s.objects[key].DeepCopy()
	job.Object["status"] = map[string]any{
		"succeeded": int64(1), "conditions": []any{map[string]any{"type": "Complete", "status": "True"}},
	}
	s.store(key, job)
}

// condemn marks an object as deleted in the foreground: it is gone when its pods are.
func (s *server) condemn(key kube.Key) {
	object := s.objects[key].DeepCopy()
	object.SetDeletionTimestamp(&metav1.Time{Time: start})
	object.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
	s.store(key, object)
}

// garbage returns what the garbage collector deletes next: what has lost its controller, or is deleted in the foreground.
func (s *server) garbage() []kube.Key {
	live := map[string]bool{}
	for _, object := range s.objects {
		live[string(object.GetUID())] = object.GetDeletionTimestamp() == nil
	}
	var gone []kube.Key
	for _, key := range sorted(s.objects) {
		object := s.objects[key]
		controller := metav1.GetControllerOfNoCopy(object)
		if object.GetDeletionTimestamp() != nil || controller != nil && !live[string(controller.UID)] {
			gone = append(gone, key)
		}
	}
	slices.SortStableFunc(gone, func(a, b kube.Key) int { return strings.Compare(b.Kind, a.Kind) }) // pods before Jobs
	return gone
}
