package model

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// apply is a server-side apply.
func (s *server) apply(body []byte, manager string, force, dryRun bool) (*unstructured.Unstructured, error) {
	wanted := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &wanted.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	key := kube.KeyOf(wanted)
	there := s.objects[key]
	if err := precondition(key, there, wanted.GetUID(), wanted.GetResourceVersion()); err != nil {
		return nil, err
	}
	if there == nil {
		there = &unstructured.Unstructured{Object: map[string]any{}}
		there.SetGroupVersionKind(wanted.GroupVersionKind())
		there.SetNamespace(wanted.GetNamespace())
		there.SetName(wanted.GetName())
	}
	result := there.DeepCopy()
	have, want := fields(there.Object), fields(wanted.Object)
	owners := map[string]map[string]bool{}
	for path, by := range s.owners[there.GetUID()] {
		owners[path] = maps.Clone(by)
	}
	for path, value := range want {
		if have[path] != value && len(owners[path]) > 0 && !force && (len(owners[path]) != 1 || !owners[path][manager]) {
			return nil, conflict(key, "another manager owns "+path)
		}
		if have[path] != value {
			owners[path] = nil
		}
		if owners[path] == nil {
			owners[path] = map[string]bool{}
		}
		owners[path][manager] = true
		set(result.Object, path, value)
	}
	for path, by := range owners {
		if _, applied := want[path]; applied || !by[manager] {
			continue
		}
		if delete(by, manager); len(by) == 0 {
			delete(owners, path)
			unset(result.Object, path)
		}
	}
	if err := immutable(s.objects[key], result); err != nil || dryRun {
		return result, err
	}
	result = s.store(key, result)
	s.owners[result.GetUID()] = owners
	return result, nil
}

func precondition(key kube.Key, there *unstructured.Unstructured, uid types.UID, version string) error {
	switch {
	case there == nil && uid != "":
		return conflict(key, "it is gone")
	case there != nil && uid != "" && uid != there.GetUID():
		return conflict(key, "it has another UID")
	case there != nil && version != "" && version != there.GetResourceVersion():
		return conflict(key, "it has another version")
	}
	return nil
}

func conflict(key kube.Key, why string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: strings.ToLower(key.Kind) + "s"}, key.Name, errors.New(why))
}

// fields are those that a server-side apply merges one by one, as JSON: labels, annotations, owners and data, and of workloads the
// fields of the spec. A list is one field.
func fields(content map[string]any) map[string]string {
	out := map[string]string{}
	if content["apiVersion"] != v1.GroupVersion.String() {
		leaves(out, "spec", content["spec"])
	}
	for _, path := range [][]string{{"metadata", "labels"}, {"metadata", "annotations"}, {"data"}} {
		entries, _, _ := unstructured.NestedMap(content, path...)
		for entry, value := range entries {
			text, _ := json.Marshal(value)
			out[strings.Join(path, "/")+"|"+entry] = string(text)
		}
	}
	owners, _, _ := unstructured.NestedSlice(content, "metadata", "ownerReferences")
	for _, owner := range owners {
		text, _ := json.Marshal(owner)
		uid, _, _ := unstructured.NestedString(owner.(map[string]any), "uid")
		out["metadata/ownerReferences|"+uid] = string(text)
	}
	return out
}

func leaves(out map[string]string, path string, value any) {
	content, _ := value.(map[string]any)
	for entry, value := range content {
		if nested, isMap := value.(map[string]any); isMap && len(nested) > 0 {
			leaves(out, path+"/"+entry, value)
			continue
		}
		text, _ := json.Marshal(value)
		out[path+"|"+entry] = string(text)
	}
}

func set(content map[string]any, path, text string) {
	unset(content, path)
	var value any
	_ = utiljson.Unmarshal([]byte(text), &value)
	place, entry, _ := strings.Cut(path, "|")
	segments := strings.Split(place, "/")
	if place == "metadata/ownerReferences" {
		owners, _, _ := unstructured.NestedSlice(content, segments...)
		_ = unstructured.SetNestedSlice(content, append(owners, value), segments...)
		return
	}
	_ = unstructured.SetNestedField(content, value, append(segments, entry)...)
}

func unset(content map[string]any, path string) {
	place, entry, _ := strings.Cut(path, "|")
	segments := strings.Split(place, "/")
	if place != "metadata/ownerReferences" {
		unstructured.RemoveNestedField(content, append(segments, entry)...)
		return
	}
	owners, _, _ := unstructured.NestedSlice(content, segments...)
	owners = slices.DeleteFunc(owners, func(owner any) bool { return owner.(map[string]any)["uid"] == entry })
	if len(owners) == 0 {
		unstructured.RemoveNestedField(content, segments...)
		return
	}
	_ = unstructured.SetNestedSlice(content, owners, segments...)
}

// merge is a merge patch by a manager, which owns the changed fields from then on.
func (s *server) merge(key kube.Key, patch []byte, manager string) (*unstructured.Unstructured, error) {
	there := s.objects[key]
	if there == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: key.Kind}, key.Name)
	}
	merged, err := mergedWith(key, there, patch)
	if err == nil {
		err = immutable(there, merged)
	}
	if err != nil {
		return nil, err
	}
	s.owned(there, merged, manager+" (Update)")
	return s.store(key, merged), nil
}

// mergedWith returns an object with a merge patch applied to it, if it has the UID and version that the patch names.
func mergedWith(key kube.Key, there *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	var of struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(patch, &of); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := precondition(key, there, of.Metadata.UID, of.Metadata.ResourceVersion); err != nil {
		return nil, err
	}
	before, err := json.Marshal(there)
	if err != nil {
		return nil, err
	}
	merged, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	result := &unstructured.Unstructured{}
	return result, utiljson.Unmarshal(merged, &result.Object)
}

// mergeStatus is a merge patch of a status.
func (s *server) mergeStatus(key kube.Key, patch []byte) (*unstructured.Unstructured, error) {
	there := s.objects[key]
	if there == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: key.Kind}, key.Name)
	}
	result, err := mergedWith(key, there, patch)
	if err != nil {
		return nil, err
	}
	changed := there.DeepCopy()
	changed.Object["status"] = result.Object["status"]
	return s.store(key, changed), nil
}
