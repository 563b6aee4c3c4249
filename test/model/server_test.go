package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/example/appservice-operator/internal/kube"
)

const (
	namespace = "demo"
	name      = "web"
	// firstVersion makes versions that nothing else in a dump looks like.
	firstVersion = 7000000
)

// server stands for an API server: it keeps objects, with UIDs and versions, and who owns each field, and heeds preconditions.
// What it does not model: admission, defaults, finalizers.
type server struct {
	objects map[kube.Key]*unstructured.Unstructured
	// owners of the fields of objects, by UID and path.
	owners map[types.UID]map[string]map[string]bool
	// log of all changes, as watches tell them.
	log      []change
	versions int
	// of says which object each version and UID is of.
	of   map[string]string
	uids int

	// writes of the operator that were committed, in words.
	writes []string
	// check sees each write of the operator before it is committed, and says what is wrong with it.
	check func(verb string, key kube.Key, there *unstructured.Unstructured) error
	// by is the process that writes, and authors the one that made each version: the pointer tells them apart.
	by      *bool
	authors map[string]*bool
	// wrong are the answers of check.
	wrong []string
	// fault decides what becomes of the operator's next writes; nil lets them through.
	fault func() verdict
}

// change is an event of a watch.
type change struct {
	object  *unstructured.Unstructured
	deleted bool
}

// verdict is what becomes of a write.
type verdict int

const (
	through verdict = iota
	lost            // it never arrives
	mute            // it is committed, and the answer is lost
	refused         // it arrives and is refused
)

func newServer() *server {
	return &server{objects: map[kube.Key]*unstructured.Unstructured{}, owners: map[types.UID]map[string]map[string]bool{}, of: map[string]string{}, authors: map[string]*bool{}}
}

var errLost = errors.New("the connection was lost")

// write is one write of a process of the operator. It is committed by commit, which does nothing if that is not possible.
func (s *server) write(by *bool, verb string, key kube.Key, dryRun bool, commit func() error) error {
	s.by = by
	what := through
	if s.fault != nil {
		what = s.fault()
	}
	switch {
	case what == lost:
		return errLost
	case what == refused:
		return apierrors.NewForbidden(schema.GroupResource{Resource: key.Kind}, key.Name, errors.New("a rule says so"))
	}
	before := s.objects[key]
	marked := len(s.log)
	if err := commit(); err != nil {
		return err
	}
	if len(s.log) > marked && !dryRun {
		s.authors[s.log[len(s.log)-1].object.GetResourceVersion()] = by
		s.writes = append(s.writes, verb+" "+key.String())
		if err := s.check(verb, key, before); err != nil {
			s.wrong = append(s.wrong, fmt.Sprintf("%s %s: %v", verb, key, err))
		}
	}
	if what == mute {
		return errLost
	}
	return nil
}

// store makes the next version of an object, unless it is as it was.
func (s *server) store(key kube.Key, object *unstructured.Unstructured) *unstructured.Unstructured {
	if before := s.objects[key]; before != nil {
		object.SetResourceVersion(before.GetResourceVersion())
		if equal(before, object) {
			return before
		}
	} else {
		s.uids++
		object.SetUID(types.UID(fmt.Sprintf("uid-%03d-", s.uids)))
		s.of[string(object.GetUID())] = "UID of " + key.String()
		if key == resourceKey {
			object.SetGeneration(1) // ConfigMaps and Secrets have none
		}
		s.owners[object.GetUID()] = map[string]map[string]bool{}
	}
	object.SetResourceVersion(s.next(key))
	s.objects[key] = object
	s.log = append(s.log, change{object: object})
	return object
}

// next is the next version, of an object.
func (s *server) next(key kube.Key) string {
	s.versions++
	version := strconv.Itoa(firstVersion + s.versions)
	s.of[version] = "version of " + key.String()
	return version
}

func equal(a, b *unstructured.Unstructured) bool {
	x, _ := json.Marshal(a) // maps, strings and numbers
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// remove deletes an object.
func (s *server) remove(key kube.Key) {
	last := s.objects[key].DeepCopy()
	last.SetResourceVersion(s.next(key))
	delete(s.objects, key)
	delete(s.owners, last.GetUID())
	s.log = append(s.log, change{object: last, deleted: true})
}

// edit is a change by somebody else, who owns from then on what they changed.
func (s *server) edit(key kube.Key, edit func(*unstructured.Unstructured)) {
	changed := s.objects[key].DeepCopy()
	edit(changed)
	before, after := fields(s.objects[key].Object), fields(changed.Object)
	owners := s.owners[changed.GetUID()]
	for path, value := range after {
		if before[path] != value {
			owners[path] = map[string]bool{"somebody": true}
		}
	}
	maps.DeleteFunc(owners, func(path string, _ map[string]bool) bool { _, found := after[path]; return !found })
	s.store(key, changed)
}

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
		if have[path] != value && len(owners[path]) > 0 && !force && !(len(owners[path]) == 1 && owners[path][manager]) {
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
	if dryRun {
		return result, nil
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

// fields are those that a server-side apply merges one by one, as JSON: labels, annotations, owners and data.
func fields(content map[string]any) map[string]string {
	out := map[string]string{}
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

func set(content map[string]any, path, text string) {
	unset(content, path)
	var value any
	_ = json.Unmarshal([]byte(text), &value)
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

// mergeStatus is a merge patch of a status.
func (s *server) mergeStatus(key kube.Key, patch []byte) (*unstructured.Unstructured, error) {
	there := s.objects[key]
	if there == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: key.Kind}, key.Name)
	}
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
	if err := utiljson.Unmarshal(merged, &result.Object); err != nil {
		return nil, err
	}
	changed := there.DeepCopy()
	changed.Object["status"] = result.Object["status"]
	return s.store(key, changed), nil
}

// delete deletes an object, if it is the one that is meant.
func (s *server) delete(_ context.Context, key kube.Key, only *metav1.Preconditions) error {
	there := s.objects[key]
	if there == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: key.Kind}, key.Name)
	}
	if only != nil {
		uid, version := types.UID(""), ""
		if only.UID != nil {
			uid = *only.UID
		}
		if only.ResourceVersion != nil {
			version = *only.ResourceVersion
		}
		if err := precondition(key, there, uid, version); err != nil {
			return err
		}
	}
	s.remove(key)
	return nil
}
