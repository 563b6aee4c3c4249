package model

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// act is something that may happen next.
type act struct {
	name string
	// may reports whether it can happen.
	may func(w *world) bool
	do  func(ctx context.Context, w *world)
}

// acts are all that may happen, in the order in which they are tried.
func (s *shape) acts() []act {
	list := []act{
		{"reconcile", func(w *world) bool { return w.process.queued }, func(ctx context.Context, w *world) { w.process.reconcile(ctx) }},
		{"time passes", func(w *world) bool { return !w.process.queued && len(w.process.timers) > 0 }, func(ctx context.Context, w *world) {
			w.process.wake()
			w.process.reconcile(ctx)
		}},
	}
	for _, kind := range s.kinds() {
		list = append(list, act{"informers show every " + kind, func(w *world) bool { return w.pending(kind) }, func(_ context.Context, w *world) { w.deliver(kind) }})
	}
	for nth := 1; nth <= s.writes; nth++ {
		list = append(list,
			fault(fmt.Sprintf("reconcile, write %d is lost", nth), nth, lost, false),
			fault(fmt.Sprintf("reconcile, the answer to write %d is lost", nth), nth, mute, false),
			fault(fmt.Sprintf("reconcile, write %d is refused", nth), nth, refused, false),
			fault(fmt.Sprintf("reconcile, killed before write %d", nth), nth, lost, true),
			fault(fmt.Sprintf("reconcile, killed after write %d", nth), nth, mute, true))
	}
	list = append(list, act{"the operator restarts", func(w *world) bool { return w.faults > 0 }, func(_ context.Context, w *world) {
		w.faults--
		w.restart()
	}})
	list = append(list,
		act{"the operator hangs, and another one leads", func(w *world) bool { return w.faults > 0 && w.process.queued }, func(_ context.Context, w *world) {
			w.faults--
			w.former = w.process
			w.begin()
		}},
		act{"the former leader reconciles what it knows, and ends", func(w *world) bool { return w.former != nil }, func(ctx context.Context, w *world) {
			w.former.reconcile(ctx)
			*w.former.dead, w.former = true, nil
		}},
		act{"the garbage collector works", (*world).garbage, func(_ context.Context, w *world) { w.collect() }},
	)
	return append(append(list, s.specChanges()...), s.changes...)
}

// fault is a reconcile with one write that goes wrong, or at which the process ends.
func fault(text string, nth int, what verdict, killed bool) act {
	may := func(w *world) bool { return w.faults > 0 && w.process.queued }
	return act{text, may, func(ctx context.Context, w *world) {
		w.faults--
		count, over := 0, false
		w.server.fault = func() verdict {
			if count++; over {
				return lost
			}
			if count == nth {
				over = killed
				return what
			}
			return through
		}
		w.process.reconcile(ctx)
		w.server.fault = nil
		if killed {
			w.restart()
		}
	}}
}

// pairChanges are what others do to a pair of ConfigMaps.
func pairChanges() []act {
	var list []act
	edits := map[string]func(*unstructured.Unstructured){
		"edits": func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, "tampered", "data", "image")
		},
		"adds to":                 func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "mine", "data", "note") },
		"takes off the owner of":  func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) },
		"takes off the labels of": func(o *unstructured.Unstructured) { o.SetLabels(nil) },
		"takes off the stamp of":  func(o *unstructured.Unstructured) { o.SetAnnotations(nil) },
	}
	for _, verb := range []string{"edits", "adds to", "takes off the owner of", "takes off the labels of", "takes off the stamp of"} {
		list = append(list, changeOf("somebody "+verb+" a", keyA, func(w *world) { w.server.edit(keyA, edits[verb]) }))
	}
	list = append(list,
		changeOf("somebody deletes a", keyA, func(w *world) { w.server.remove(keyA) }),
		changeOf("somebody deletes b", keyB, func(w *world) { w.server.remove(keyB) }),
		madeAgain(resourceKey),
		statusOverwritten(resourceKey),
		recordDeleted(),
		record("Helm marks the record failed", func(w *world, key kube.Key) {
			w.server.edit(key, func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, "failed", "metadata", "labels", "status")
			})
		}),
		record("somebody damages the record", func(w *world, key kube.Key) {
			w.server.edit(key, func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, damage, "data", "release")
			})
		}),
		act{"somebody makes a b of their own", func(w *world) bool { return w.changes > 0 && w.server.objects[keyB] == nil }, func(_ context.Context, w *world) {
			w.changes--
			w.makeForeign()
		}},
	)
	return list
}

func madeAgain(key kube.Key) act {
	return changeOf("the resource is made again under its name", key, func(w *world) { w.makeAgain() })
}

// makeAgain deletes the resource, and makes it again with its spec.
func (w *world) makeAgain() {
	again := w.resource().DeepCopy()
	again.SetGeneration(1)
	delete(again.Object, "status")
	w.server.remove(w.shape.key())
	w.server.store(w.shape.key(), again)
	w.runs.ask(w.resource())
}

func statusOverwritten(key kube.Key) act {
	return changeOf("somebody overwrites the status", key, func(w *world) {
		w.server.edit(key, func(o *unstructured.Unstructured) {
			o.Object["status"] = map[string]any{"phase": "Failed", "replicas": int64(7)}
		})
	})
}

func recordDeleted() act {
	return record("somebody deletes the record", func(w *world, key kube.Key) { w.server.remove(key) })
}

// changeOf is a change of an existing object.
func changeOf(text string, key kube.Key, do func(*world)) act {
	may := func(w *world) bool { return w.changes > 0 && w.server.objects[key] != nil }
	return act{text, may, func(_ context.Context, w *world) {
		w.changes--
		do(w)
	}}
}

// damage is the payload of a record that cannot be decoded.
const damage = "bm9uc2Vuc2U="

// record is a change of the newest release record.
func record(text string, do func(*world, kube.Key)) act {
	newest := func(w *world) (kube.Key, bool) {
		keys := sorted(w.server.objects)
		for i := len(keys) - 1; i >= 0; i-- {
			if isRecord(keys[i]) {
				return keys[i], true
			}
		}
		return kube.Key{}, false
	}
	may := func(w *world) bool { _, found := newest(w); return w.changes > 0 && found }
	return act{text, may, func(_ context.Context, w *world) {
		w.changes--
		key, _ := newest(w)
		do(w, key)
	}}
}

func (w *world) makeForeign() {
	b := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"theirs": "yes"}}}
	b.SetGroupVersionKind(configMap)
	b.SetNamespace(namespace)
	b.SetName("b")
	w.server.store(keyB, b)
}
