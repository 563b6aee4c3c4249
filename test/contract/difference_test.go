//go:build cluster

package contract

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/test/specs"
)

// digests are annotations that follow from everything else: a change of them alone is not enough.
var digests = [...]string{postrender.AnnotationStamp, postrender.AnnotationChecksum, v1.AnnotationChecksumKey}

// openMaps are objects with arbitrary keys.
var openMaps = [...]string{"annotations", "labels", "matchLabels", "nodeSelector", "data"}

// difference names the kinds and paths in which two renders differ, each once and in order. A path ends where one side has no value; a whole object
// is its kind alone.
func difference(before, after []*unstructured.Unstructured) []string {
	old, current := index(before), index(after)
	found := map[string]bool{}
	for key, object := range old {
		compare(key.Kind, "", object, current[key], found)
	}
	for key := range current {
		if old[key] == nil {
			found[key.Kind] = true
		}
	}
	return specs.SortedKeys(found)
}

func index(objects []*unstructured.Unstructured) map[kube.Key]any {
	all := make(map[kube.Key]any, len(objects))
	for _, object := range objects {
		object = withoutRun(object)
		content := object.Object
		for _, path := range [][]string{{"metadata"}, {"spec", "template", "metadata"}} {
			for _, digest := range digests {
				unstructured.RemoveNestedField(content, append(slices.Clone(path), "annotations", digest)...)
			}
			if annotations, _, _ := unstructured.NestedMap(content, append(slices.Clone(path), "annotations")...); len(annotations) == 0 {
				unstructured.RemoveNestedField(content, append(slices.Clone(path), "annotations")...)
			}
		}
		all[kube.KeyOf(object)] = content
	}
	return all
}

// withoutRun returns a copy of an object. The name of a Job that runs once ends with a digest, which follows from everything else.
func withoutRun(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if jobs.RunsOnce(object) {
		object.SetName(object.GetName()[:strings.LastIndex(object.GetName(), "-")])
	}
	return object
}

func compare(kind, path string, before, after any, found map[string]bool) {
	if reflect.DeepEqual(before, after) {
		return
	}
	name := path[strings.LastIndex(path, ".")+1:]
	old, isMap := before.(map[string]any)
	current, stillMap := after.(map[string]any)
	oldItems, isList := before.([]any)
	items, stillList := after.([]any)
	switch {
	case isMap && stillMap && !slices.Contains(openMaps[:], name):
		for key := range old {
			compare(kind, specs.Join(path, key), old[key], current[key], found)
		}
		for key := range current {
			if _, both := old[key]; !both {
				found[strings.TrimSpace(kind+" "+specs.Join(path, key))] = true
			}
		}
	case isList && stillList && len(oldItems) == len(items):
		for i := range items {
			compare(kind, path+"[]", oldItems[i], items[i], found)
		}
	case isList && stillList:
		found[kind+" "+path+"[]"] = true
	default:
		found[strings.TrimSpace(kind+" "+path)] = true
	}
}
