package postrender

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Selectors keeps the selectors of live workloads that differ from the rendered ones, as those of adopted workloads do:
// a selector can never change. Their pods get the labels of the live selector in place of the rendered one's, and so
// does everything rendered to select these pods.
func Selectors(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, workload := range objects {
		kept := in.Facts.Selectors[kube.KeyOf(workload)]
		rendered := SelectorOf(workload)
		if kept == nil || rendered == nil || maps.Equal(kept, rendered) {
			continue
		}
		swap := func(labels map[string]any) { exchange(labels, rendered, kept) }
		for _, object := range objects {
			eachPodSelector(object, swap)
		}
		swap(labelsAt(workload.Object, "spec", "template", "metadata", "labels"))
	}
	return nil
}

// SelectorsOf returns the labels by which the workloads among some objects select their pods.
func SelectorsOf(objects []*unstructured.Unstructured) map[kube.Key]map[string]string {
	found := map[kube.Key]map[string]string{}
	for _, object := range objects {
		if labels := SelectorOf(object); labels != nil {
			found[kube.KeyOf(object)] = labels
		}
	}
	return found
}

// SelectorOf returns the labels by which a workload selects its pods; nil if the object is not a workload, or selects
// them in another way.
func SelectorOf(object *unstructured.Unstructured) map[string]string {
	if !kube.TraitsOf(object.GroupVersionKind().GroupKind()).Scales {
		return nil
	}
	labels, _, _ := unstructured.NestedStringMap(object.Object, "spec", "selector", "matchLabels")
	return labels
}

// eachPodSelector calls found for the labels of everything in an object of a built-in kind that selects pods.
func eachPodSelector(object *unstructured.Unstructured, found func(labels map[string]any)) {
	switch object.GetKind() {
	case "Service":
		found(labelsAt(object.Object, "spec", "selector"))
	case "PodDisruptionBudget":
		found(labelsAt(object.Object, "spec", "selector", "matchLabels"))
	case "NetworkPolicy":
		found(labelsAt(object.Object, "spec", "podSelector", "matchLabels"))
	case "Deployment", "StatefulSet":
		found(labelsAt(object.Object, "spec", "selector", "matchLabels"))
		pods, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec")
		eachLabelSelector(pods, found)
	}
}

// eachLabelSelector does the same for everything beneath the spec of a pod: affinities and spread.
func eachLabelSelector(value any, found func(labels map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			eachLabelSelector(item, found)
		}
	case map[string]any:
		for key, field := range value {
			if key == "labelSelector" {
				selector, _ := field.(map[string]any)
				found(labelsAt(selector, "matchLabels"))
				continue
			}
			eachLabelSelector(field, found)
		}
	}
}

func labelsAt(object map[string]any, path ...string) map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	labels, _ := value.(map[string]any)
	return labels
}

// exchange replaces labels by others, if they are all present.
func exchange(labels map[string]any, old, kept map[string]string) {
	for key, value := range old {
		if labels[key] != value {
			return
		}
	}
	for key := range old {
		delete(labels, key)
	}
	for key, value := range kept {
		labels[key] = value
	}
}
