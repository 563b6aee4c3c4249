// Package model explores, for small sizes, all that can happen to a resource: the real reconciler works on the model of an API server
// and of informers that lag behind, while writes are lost, processes die and others change and delete objects. From
// every state that can be reached the world is stopped; the objects must then become as desired, within a bounded
// number of reconciles, and stay.
package model

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/tools/part"
)

var depth = flag.Int("depth", 2, "how many things happen before the world stops")

// root is a world from which exploration starts.
type root struct {
	make func(ctx context.Context) *world
	// less is how many events fewer happen than -depth says: workloads take longer than ConfigMaps.
	less int
}

var roots = map[string]root{
	"a new resource":                {func(context.Context) *world { return newWorld(pair) }, 0},
	"a resource that is as desired": {calmed(pair), 0},
	"a resource with a new spec":    {changed(pair, 1), 0},
	"a resource with two objects": {func(ctx context.Context) *world {
		w := newWorld(pair)
		w.resource().Object["spec"] = pair.specs[1]
		w.restart()
		_ = w.calm(ctx)
		return w
	}, 0},
	"a Job that is complete":                       {calmed(once), 1},
	"a Job that is to run otherwise":               {changed(once, 1), 1},
	"a Job that is to run otherwise while it runs": {interrupted, 1},
	"a Job of the stage before that is to run":     {func(context.Context) *world { return newWorld(staged) }, 1},
	"a Job of the stage before that is complete":   {calmed(staged), 1},
	"a Job of the stage before that is to change":  {changed(staged, 1), 1},
	"a Deployment that returns":                    {calmed(returning), 1},
	"a Deployment that is to return":               {changed(returning, 2), 1},
	"a new Secret that is filled":                  {func(context.Context) *world { return newWorld(generated) }, 1},
	"a Secret that is filled":                      {calmed(generated), 1},
	"a Secret that is to have another key":         {changed(generated, 1), 1},
	"a StatefulSet that is as desired":             {calmed(stateful), 1},
	"a StatefulSet whose volumes grow":             {changed(stateful, 1), 1},
	"an autoscaled Deployment that is as desired":  {calmed(scaled), 1},
	"a Deployment that becomes autoscaled": {func(ctx context.Context) *world {
		w := changed(scaled, 2)(ctx)
		_ = w.calm(ctx)
		w.become(0)
		w.deliver(v1.Kind)
		return w
	}, 1},
}

// calmed is a world whose resource is as desired.
func calmed(s *shape) func(ctx context.Context) *world {
	return func(ctx context.Context) *world {
		w := newWorld(s)
		_ = w.calm(ctx)
		return w
	}
}

// changed is such a world when the spec has changed.
func changed(s *shape, spec int) func(ctx context.Context) *world {
	return func(ctx context.Context) *world {
		w := calmed(s)(ctx)
		w.become(spec)
		w.deliver(s.kind.Kind)
		return w
	}
}

// TestOnceTheWorldStopsItBecomesAsDesiredAndStays explores breadth first; states that were seen are not explored again.
func TestOnceTheWorldStopsItBecomesAsDesiredAndStays(t *testing.T) {
	log.SetLogger(logr.Discard())
	if testing.Short() {
		*depth = 1 // "go test ./..." goes deeper without the race detector
	}
	for name, root := range roots {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			levels := max(1, *depth-root.less)
			e := &explorer{t: t, root: root.make, depth: levels, acts: root.make(t.Context()).shape.acts(), seen: map[[32]byte]bool{}}
			began := time.Now()
			e.explore(t.Context())
			t.Logf("MODEL states=%d transitions=%d depth=%d in %s", len(e.seen), e.transitions, levels, time.Since(began).Round(time.Second))
		})
	}
}

type explorer struct {
	t           *testing.T
	root        func(ctx context.Context) *world
	acts        []act
	depth       int
	seen        map[[32]byte]bool
	transitions int
	failures    int
}

func (e *explorer) explore(ctx context.Context) {
	level := [][]int{nil}
	for range e.depth {
		var next [][]int
		for _, path := range level {
			for i := range e.acts {
				if len(path) == 0 && !part.Has(i) {
					continue
				}
				longer := append(append([]int{}, path...), i)
				if e.visit(ctx, longer) {
					next = append(next, longer)
				}
				if e.failures > 4 {
					return // they are likely to be the same
				}
			}
		}
		level = next
	}
}

// visit plays a path and reports whether it leads to a state that was not seen before. The world is stopped there.
func (e *explorer) visit(ctx context.Context, path []int) bool {
	w := e.root(ctx)
	for _, i := range path {
		if !e.acts[i].may(w) {
			return false
		}
		e.acts[i].do(ctx, w)
	}
	e.transitions++
	sum := sha256.Sum256([]byte(w.signature()))
	if e.seen[sum] {
		return false
	}
	e.seen[sum] = true
	if err := stopped(ctx, w); err != nil {
		e.failures++
		var story strings.Builder
		for _, i := range path {
			fmt.Fprintf(&story, "  %s\n", e.acts[i].name)
		}
		e.t.Errorf("%v\nafter\n%s", err, story.String())
	}
	return true
}

// stopped stops the world and checks the state that it ends in.
func stopped(ctx context.Context, w *world) error {
	if err := w.calm(ctx); err != nil {
		return err
	}
	if len(w.server.wrong) > 0 {
		return fmt.Errorf("a write that must not be: %s", strings.Join(w.server.wrong, "; "))
	}
	if err := w.asDesired(ctx); err != nil {
		return err
	}
	writes, done, before := len(w.server.writes), w.done(), w.content()
	w.restart()
	if err := w.calm(ctx); err != nil {
		return fmt.Errorf("after a restart: %w", err)
	}
	more := w.server.writes[writes:]
	if w.repeats() {
		if after := w.content(); after != before {
			return fmt.Errorf("a restart makes it write %q, and changes %s to %s", more, before, after)
		}
		return nil
	}
	if w.done() != done {
		return fmt.Errorf("a restart makes it write %q", more)
	}
	return nil
}

// repeats reports whether a new process may write, although nothing has changed: a damaged record is noticed when it is needed, which a process
// that remembers the objects defers.
func (w *world) repeats() bool {
	for key, object := range w.server.objects {
		payload, _, _ := unstructured.NestedString(object.Object, "data", "release")
		if isRecord(key) && payload == damage {
			return true
		}
	}
	return false
}

// content is all objects but the resource, without versions and UIDs.
func (w *world) content() string {
	var out strings.Builder
	for _, key := range sorted(w.server.objects) {
		data, _, _ := unstructured.NestedMap(w.server.objects[key].Object, "data")
		if key != w.shape.key() && !isRecord(key) {
			fmt.Fprintf(&out, "%s %v ", key, data)
		}
	}
	return out.String()
}

// asDesired compares the objects with those that the resource renders, if it renders any.
func (w *world) asDesired(ctx context.Context) error {
	resource := w.resource()
	objects := map[kube.Key]client.Object{}
	lost := false
	for key, object := range w.server.objects {
		if !w.shape.rendersKind(key.GroupKind) || isRecord(key) {
			continue
		}
		retained := kube.RetainedFor(object) == name
		if of := object.GetLabels()[v1.LabelOwner]; retained && of != "" && of != string(resource.GetUID()) {
			lost = true // the claim of an earlier resource
		}
		if ownerOf(object) == resource.GetUID() || retained {
			objects[key] = object
		}
		lost = lost || ownerOf(object) == "" && (key == keyA || key.Name == name)
	}
	ready := conditionOf(resource, v1.ConditionReady)
	desired, err := w.process.Charts.Get().Render(ctx, resource, chartutil.DefaultCapabilities)
	switch {
	case err != nil:
		return w.expect(ready, v1.ReasonRenderFailed)
	case lost: // owner and stamp are gone, or owner and spec changed, or it was an earlier one's: docs/drift.md
		return w.expect(ready, v1.ReasonResourceExists)
	case w.foreign() && len(desired.Objects) > 1:
		return w.expect(ready, v1.ReasonResourceExists)
	}
	if w.shape.halts != nil && w.shape.halts(w) != "" {
		return w.expect(ready, w.shape.halts(w))
	}
	if w.shape.goesBack != nil {
		if back, err := w.shape.goesBack(w); back || err != nil {
			return err
		}
	}
	if plan := plan.Compare(desired.Objects, objects); !plan.Empty() {
		return fmt.Errorf("it is not as desired: %s", plan)
	}
	if w.shape.ended != nil {
		if err := w.shape.ended(w); err != nil {
			return err
		}
	}
	waits := w.shape.waits != nil && w.shape.waits(w)
	if (ready["status"] == "True") == waits || conditionOf(resource, v1.ConditionDeployed)["status"] != "True" {
		return fmt.Errorf("it is as desired, and the status says %v", resource.Object["status"])
	}
	if observed, _, _ := unstructured.NestedInt64(resource.Object, "status", "observedGeneration"); observed != resource.GetGeneration() {
		return fmt.Errorf("the status speaks of generation %d, not %d", observed, resource.GetGeneration())
	}
	if waits {
		return nil // earlier records are superseded once it is ready
	}
	return w.recorded(desired.Digest)
}

// recorded checks that the newest record describes the present objects, and that earlier ones are superseded, as many as are kept.
func (w *world) recorded(digest string) error {
	count, newest, lastReady := 0, true, ""
	keys := sorted(w.server.objects)
	slices.Reverse(keys)
	for _, key := range keys {
		if !isRecord(key) {
			continue
		}
		labels := w.server.objects[key].GetLabels()
		if newest {
			lastReady = labels[v1.LabelLastReady]
		}
		if count < keeps || labels["version"] != lastReady { // that one is kept beside them
			count++
		}
		switch status := labels["status"]; {
		case newest && (status != "deployed" || labels[v1.LabelDigest] != digest), !newest && status == "deployed":
			return fmt.Errorf("the record %s says %v", key.Name, labels)
		}
		newest = false
	}
	if count == 0 || count > keeps {
		return fmt.Errorf("there are %d records", count)
	}
	return nil
}

// expect checks the state if the spec is refused: the status says so, and the existing objects are kept.
func (w *world) expect(ready map[string]any, reason string) error {
	if ready["status"] != "False" || ready["reason"] != reason {
		return fmt.Errorf("Ready is %v, not %s", ready, reason)
	}
	for key := range w.server.objects {
		if w.shape == pair && isRecord(key) && w.server.objects[keyA] == nil {
			return fmt.Errorf("there is a release, and its object a is gone")
		}
	}
	return nil
}

func conditionOf(resource *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	for _, item := range conditions {
		if condition, _ := item.(map[string]any); condition["type"] == kind {
			return condition
		}
	}
	return nil
}
