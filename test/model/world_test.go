package model

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/example/appservice-operator/internal/engine/kube"
)

type unstructuredObject = unstructured.Unstructured

// world is an API server, the informers that lag behind it, a process of the operator, and all other clients.
type world struct {
	clock   *clocktesting.FakePassiveClock
	shape   *shape
	server  *server
	process *process
	// former is a leader that hangs, and does not know that it no longer leads; nil if there is none.
	former *process
	// made is each object as the operator wrote it.
	made map[madeKey]map[string]string
	// runs is what was asked of a Job, and what was started.
	runs runs
	// faults that may still happen, and changes by others.
	faults, changes int
}

var (
	resourceKey = kube.Key{GroupKind: appService.GroupKind(), Name: name}
	keyA        = kube.Key{GroupKind: configMap.GroupKind(), Name: "a"}
	keyB        = kube.Key{GroupKind: configMap.GroupKind(), Name: "b"}
)

// newWorld returns a world with a resource that has not been reconciled yet.
func newWorld(s *shape) *world {
	w := &world{shape: s, clock: clocktesting.NewFakePassiveClock(start), server: newServer(s.key()), made: map[madeKey]map[string]string{}, faults: 1, changes: 2}
	w.server.check = w.allowed
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(s.specs[0])}}
	resource.SetGroupVersionKind(s.kind)
	resource.SetNamespace(namespace)
	resource.SetName(name)
	resource.SetCreationTimestamp(metav1.NewTime(start))
	w.server.store(s.key(), resource)
	w.runs = newRuns(w.resource())
	w.restart()
	return w
}

func (w *world) resource() *unstructured.Unstructured { return w.server.objects[w.shape.key()] }

// restart is the end of one process and the beginning of the next.
func (w *world) restart() {
	if w.process != nil {
		*w.process.dead = true
	}
	w.begin()
}

// begin is the beginning of a process, whose informers list first.
func (w *world) begin() {
	w.process = newProcess(w)
	for _, kind := range w.shape.kinds() {
		w.process.told[kind] = len(w.server.log)
	}
	for _, key := range sorted(w.server.objects) {
		if object := w.server.objects[key]; shown(object) {
			w.process.store[key] = object
			w.process.tell(nil, object, false)
		}
	}
}

// garbage reports whether there is something to collect.
func (w *world) garbage() bool { return len(w.server.garbage()) > 0 }

// collect does the garbage collector's work: it deletes the objects of deleted owners, and what is deleted in the foreground.
func (w *world) collect() {
	for gone := w.server.garbage(); len(gone) > 0; gone = w.server.garbage() {
		for _, key := range gone {
			w.server.remove(key)
		}
	}
}

// pending reports whether the informers of a kind lag behind.
func (w *world) pending(kind string) bool {
	return slices.ContainsFunc(w.server.log[w.process.told[kind]:], func(c change) bool { return c.object.GetKind() == kind })
}

// deliver sends the informers of a kind all events that were not delivered yet.
func (w *world) deliver(kind string) {
	for _, c := range w.server.log[w.process.told[kind]:] {
		key := kube.KeyOf(c.object)
		if key.Kind != kind {
			continue
		}
		before := w.process.store[key]
		switch gone := c.deleted || !shown(c.object); {
		case gone && before != nil:
			delete(w.process.store, key)
			w.process.tell(c.object, nil, true)
		case !gone:
			w.process.store[key] = c.object
			w.process.tell(before, c.object, false)
		}
	}
	w.process.told[kind] = len(w.server.log)
}

// allowed is what each write of the operator must comply with.
func (w *world) allowed(verb string, key kube.Key, before *unstructured.Unstructured) error {
	resource := w.resource()
	seen := w.process.store[w.shape.key()]
	w.note(verb, key)
	ours := before == nil || ownerOf(before) == resource.GetUID() || seen != nil && ownerOf(before) == seen.GetUID()
	switch {
	case verb == "status":
		return w.untrulyReady()
	case w.shape.allowed != nil && !isRecord(key):
		return w.shape.allowed(w, key, before)
	case !ours && !disowned(before):
		return fmt.Errorf("it is not ours")
	case before != nil && w.former != nil && w.server.by == w.former.dead && !w.former.knows(w.server, key, before):
		return fmt.Errorf("the former leader does not know it in this version")
	case verb != "delete" || key.Kind != configMap.Kind:
		return nil
	case w.foreign() && !slices.ContainsFunc(sorted(w.server.objects), isRecord):
		return nil // an install that turned out to be impossible is undone
	}
	if seen != nil && slices.Contains(wanted(seen), key) {
		return fmt.Errorf("it is wanted, and could have been kept")
	}
	return nil
}

// knows reports whether a process has seen an object as it is, or has written it.
func (p *process) knows(s *server, key kube.Key, object *unstructured.Unstructured) bool {
	seen := p.store[key]
	return s.authors[object.GetResourceVersion()] == p.dead || seen != nil && seen.GetResourceVersion() == object.GetResourceVersion()
}

func isRecord(key kube.Key) bool {
	return key.Kind == kube.SecretKind.Kind && strings.HasPrefix(key.Name, "sh.helm.release.v1.")
}

// disowned reports whether an object was ours and another client removed its owner reference.
func disowned(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()["app.example.com/rendered"] != "" && len(object.GetOwnerReferences()) == 0
}

// wanted are the keys of what a resource renders.
func wanted(resource *unstructured.Unstructured) []kube.Key {
	image, _, _ := unstructured.NestedString(resource.Object, "spec", "image")
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	switch {
	case image == "refused":
		return nil
	case size > 1:
		return []kube.Key{keyA, keyB}
	}
	return []kube.Key{keyA}
}

// foreign reports whether an object that is not ours has a name that may be rendered.
func (w *world) foreign() bool {
	object := w.server.objects[keyB]
	return object != nil && object.GetAnnotations()["app.example.com/rendered"] == ""
}

// done is what the operator has done, in words, without the time of the next attempt: attempts that fail continue forever and report it.
func (w *world) done() string {
	objects := slices.DeleteFunc(slices.Clone(w.server.writes), func(write string) bool { return strings.HasPrefix(write, "status ") })
	status, _, _ := unstructured.NestedMap(w.resource().Object, "status")
	delete(status, "nextAttemptTime")
	return fmt.Sprint(objects, status)
}

// calm lets the world stop: no client changes anything any more, informers show everything, and the operator works until it rests. The
// error says that it does not.
func (w *world) calm(ctx context.Context) error {
	w.server.fault = nil
	if w.former != nil {
		*w.former.dead, w.former = true, nil
	}
	w.collect()
	const bound = 60
	quiet := 0
	for range bound {
		w.server.endPods()
		w.collect()
		for _, kind := range w.shape.kinds() {
			w.deliver(kind)
		}
		if !w.process.queued && !w.process.wake() {
			return nil
		}
		before := w.done()
		w.process.reconcile(ctx)
		if quiet++; w.done() != before {
			quiet = 0
		}
		if quiet > 12 { // attempts that fail continue forever, ever more slowly
			return nil
		}
	}
	return fmt.Errorf("after %d reconciles it still writes: %q", bound, w.server.writes[max(0, len(w.server.writes)-6):])
}
