package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/engine/kube"
)

const (
	namespace = "demo"
	name      = "web"
	// firstVersion makes versions that differ from all other numbers in a dump.
	firstVersion = 7000000
)

// server stands for an API server: it stores objects, with UIDs, versions and field owners, and checks preconditions. It does not model admission,
// defaults and finalizers.
type server struct {
	objects map[kube.Key]*unstructured.Unstructured
	// owners of the fields of objects, by UID and path.
	owners map[types.UID]map[string]map[string]bool
	// log of all changes, as watches report them.
	log      []change
	versions int
	// resource is the key of the resource.
	resource kube.Key
	// of maps versions and UIDs to their objects.
	of   map[string]string
	uids int

	// writes of the operator that were committed, in words.
	writes []string
	// check sees each write of the operator before it is committed, and returns what is wrong with it.
	check func(verb string, key kube.Key, there *unstructured.Unstructured) error
	// by is the process that writes, and authors the one that made each version: the pointer distinguishes them.
	by      *bool
	authors map[string]*bool
	// wrong are the results of check.
	wrong []string
	// fault decides the outcome of the operator's next writes; nil lets them through.
	fault func() verdict
}

// change is an event of a watch.
type change struct {
	object  *unstructured.Unstructured
	deleted bool
}

// verdict is the outcome of a write.
type verdict int

const (
	through verdict = iota
	lost            // it never arrives
	mute            // it is committed, and the answer is lost
	refused         // it arrives and is refused
)

func newServer(resource kube.Key) *server {
	return &server{resource: resource, objects: map[kube.Key]*unstructured.Unstructured{}, owners: map[types.UID]map[string]map[string]bool{}, of: map[string]string{}, authors: map[string]*bool{}}
}

var errLost = errors.New("the connection was lost")

// write is one write of a process of the operator. It is committed by commit, unless that is impossible.
func (s *server) write(by *bool, verb string, key kube.Key, dryRun bool, commit func() error) error {
	s.by = by
	what := through
	if s.fault != nil {
		what = s.fault()
	}
	switch what {
	case lost:
		return errLost
	case refused:
		return apierrors.NewForbidden(schema.GroupResource{Resource: key.Kind}, key.Name, errors.New("a rule says so"))
	}
	before := s.objects[key]
	marked := len(s.log)
	if err := commit(); err != nil {
		return err
	}
	if len(s.log) > marked && !dryRun {
		for _, c := range s.log[marked:] {
			s.authors[c.object.GetResourceVersion()] = by
		}
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

// store saves the next version of an object, unless it is unchanged.
func (s *server) store(key kube.Key, object *unstructured.Unstructured) *unstructured.Unstructured {
	if before := s.objects[key]; before != nil {
		object.SetResourceVersion(before.GetResourceVersion())
		control(before, object)
		if equal(before, object) {
			return before
		}
	} else {
		s.uids++
		object.SetUID(types.UID(fmt.Sprintf("uid-%03d-", s.uids)))
		s.of[string(object.GetUID())] = "UID of " + key.String()
		if key == s.resource {
			object.SetGeneration(1) // ConfigMaps and Secrets have none
		}
		control(nil, object)
		s.owners[object.GetUID()] = map[string]map[string]bool{}
	}
	object.SetResourceVersion(s.next(key))
	s.objects[key] = object
	s.log = append(s.log, change{object: object})
	s.follow(object)
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

// edit is a change by another client, which owns the changed fields from then on.
func (s *server) edit(key kube.Key, edit func(*unstructured.Unstructured)) {
	changed := s.objects[key].DeepCopy()
	edit(changed)
	s.owned(s.objects[key], changed, "somebody")
	s.store(key, changed)
}

// owned notes that a manager owns the fields that it has changed, and nobody those that are gone.
func (s *server) owned(there, changed *unstructured.Unstructured, manager string) {
	before, after := fields(there.Object), fields(changed.Object)
	owners := s.owners[changed.GetUID()]
	for path, value := range after {
		if before[path] != value {
			owners[path] = map[string]bool{manager: true}
		}
	}
	maps.DeleteFunc(owners, func(path string, _ map[string]bool) bool { _, found := after[path]; return !found })
}

// delete deletes an object, if it has the UID that is meant; in the foreground, once its pods are gone.
func (s *server) delete(key kube.Key, only *metav1.Preconditions, how *metav1.DeletionPropagation) error {
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
	if how != nil && *how == metav1.DeletePropagationForeground {
		s.condemn(key)
		return nil
	}
	s.remove(key)
	return nil
}

// patch applies a JSON patch, which names the version that it is for.
func (s *server) patch(key kube.Key, body []byte) (*unstructured.Unstructured, error) {
	there := s.objects[key]
	if there == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: key.Kind}, key.Name)
	}
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	before, err := there.MarshalJSON()
	if err != nil {
		return nil, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, apierrors.NewInvalid(key.GroupKind, key.Name, nil)
	}
	changed := &unstructured.Unstructured{}
	if err := changed.UnmarshalJSON(after); err != nil {
		return nil, err
	}
	if err := precondition(key, there, "", changed.GetResourceVersion()); err != nil {
		return nil, err
	}
	return s.store(key, changed), nil
}
