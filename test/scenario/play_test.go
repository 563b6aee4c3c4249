//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/controlplane"
)

const (
	// patience is how long a plan may take to reach the state of the reference. The operator retries after 5, then 10, then 20 s, but the Deployment
	// controller, after many conflicts on a busy machine, after up to 163 s.
	patience = 15 * time.Minute
	// calm is for how long nothing may happen once nothing is expected any more.
	calm = 2 * time.Second
)

// stage is a namespace in which a scenario is played.
type stage struct {
	namespace, server string
	kind              string // AppService, or AppJob
	line              *harness.Line
	process           *process             // an operator of its own; nil if it shares one
	touched           map[string]types.UID // what the last step edited or deleted, by its name there
	before            map[string]*unstructured.Unstructured
	removed           map[string]*unstructured.Unstructured // whatever steps have deleted, by its name there
	pods              []string                              // those of before, if a step keeps them
	spec              any                                   // as it was written last
}

// newStage creates a namespace. It is deleted with the cluster: deleting its content would be more work for the API server than the plan.
func newStage(t *testing.T, name, server string) *stage {
	t.Helper()
	var namespace *corev1.Namespace
	harness.Eventually(t, "create a namespace", func() error { // on a slow disk, etcd may not answer for a while
		namespace = &corev1.Namespace{}
		namespace.GenerateName = "f-" + strings.ToLower(strings.NewReplacer("/", "-", " ", "-").Replace(name)) + "-"
		return cluster.Client.Create(t.Context(), namespace)
	})
	if current, _ := controlplane.CurrentWanted(); current {
		t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), namespace) })
	}
	return &stage{namespace: namespace.Name, server: server, kind: v1.Kind, line: wire.Line(namespace.Name), removed: map[string]*unstructured.Unstructured{}}
}

// do runs a step, and returns when all caches show its effect.
func (s *stage) do(t *testing.T, step step) {
	t.Helper()
	defer seen.touch(s.namespace)
	var err error
	s.touched = map[string]types.UID{}
	s.before, err = seen.objects(t.Context(), s.namespace)
	require.NoError(t, err)
	if step.expect.pods {
		s.pods = s.podsNow(t)
	}
	if step.offline {
		s.process.Stop(t)
		defer func() { s.process.restart(); s.process.Synced(t) }()
	}
	if len(step.remove) == 0 || step.remove[0] == s.kind {
		s.holdPods(t)
	}
	for _, what := range s.named(step.remove) {
		object := s.object(what)
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatalf("cannot find %s: %v", what, err)
		}
		if what == s.kind {
			seen.permits(s.namespace)
		}
		if err := cluster.Client.Delete(t.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatalf("cannot delete %s: %v", what, err)
		}
		s.touched[what], s.removed[what] = object.GetUID(), object
		seen.unasked(object)
		s.shown(t, object, true)
	}
	for _, what := range step.restore {
		object := s.removed[what].DeepCopy()
		object.SetUID("")
		object.SetResourceVersion("")
		seen.permits(s.namespace, object.GetName())
		require.NoError(t, cluster.Client.Create(t.Context(), object))
		s.shown(t, object, false)
	}
	for what, text := range step.create {
		object := s.object(what)
		name := object.GetName()
		maps.Copy(object.Object, specIn(t, s.namespace, text))
		object.SetName(name)
		s.foreign(t, object)
		if object.GetKind() == "ResourceQuota" {
			s.holds(t, object)
		} else {
			s.shown(t, object, false)
		}
	}
	if step.spec != "" {
		harness.Eventually(t, "change the spec", func() error { return s.set(t, step.spec) })
	}
	if step.passes {
		s.passes(t)
	}
	for what, patch := range step.edit {
		object := s.object(what)
		seen.permitsBy(object, patch)
		kindOfPatch := types.MergePatchType
		switch {
		case strings.HasPrefix(patch, "["):
			kindOfPatch = types.JSONPatchType
		case what == "Deployment":
			kindOfPatch = types.StrategicMergePatchType
		}
		if err := cluster.Client.Patch(t.Context(), object, client.RawPatch(kindOfPatch, []byte(patch))); err != nil {
			t.Fatalf("cannot edit %s: %v", what, err)
		}
		s.touched[what] = object.GetUID()
		if what == s.kind {
			s.spec = object.Object["spec"]
		}
		seen.asked(object)
		s.shown(t, object, false)
	}
}

// named returns the names of objects, with those of before that "*" stands for.
func (s *stage) named(list []string) (names []string) {
	for _, what := range list {
		kind, all := strings.CutSuffix(what, "/*")
		if !all {
			names = append(names, what)
			continue
		}
		for _, object := range s.before {
			if object.GetKind() == kind {
				names = append(names, kind+"/"+object.GetName())
			}
		}
	}
	return names
}

// foreign creates an object that the operator does not own.
func (s *stage) foreign(t *testing.T, object client.Object) {
	t.Helper()
	object.SetNamespace(s.namespace)
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[foreignLabel] = "yes"
	object.SetLabels(labels)
	cluster.Create(t, object)
}

// object returns the one with a name as in "Service", or as in "Service/name" if its name is not that of the AppService.
func (s *stage) object(what string) *unstructured.Unstructured {
	kind, name, named := strings.Cut(what, "/")
	if !named {
		name = appName
	}
	object := objectOf(kind)
	object.SetNamespace(s.namespace)
	object.SetName(name)
	return object
}

// shown waits until the test's own view has caught up with a change of an object.
func (s *stage) shown(t *testing.T, object *unstructured.Unstructured, deleted bool) {
	t.Helper()
	harness.Eventually(t, "see the change", func() error {
		live := objectOf(object.GetKind())
		err := seen.cache.Get(t.Context(), client.ObjectKeyFromObject(object), live)
		if apierrors.IsNotFound(err) && deleted {
			return nil
		}
		if err != nil {
			return err
		}
		order, err := resourceversion.CompareResourceVersion(live.GetResourceVersion(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		if order < 0 || deleted && live.GetUID() == object.GetUID() && live.GetDeletionTimestamp() == nil {
			return fmt.Errorf("the test does not see the change of %s yet", object.GetKind())
		}
		return nil
	})
}

func (s *stage) set(t *testing.T, spec string) error {
	app := s.object(s.kind)
	err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	app.Object["spec"] = specIn(t, s.namespace, spec)
	if apierrors.IsNotFound(err) {
		app.SetLabels(map[string]string{serverLabel: s.server})
		err = cluster.Client.Create(t.Context(), app)
	} else {
		err = cluster.Client.Update(t.Context(), app)
	}
	if err == nil {
		s.spec = app.Object["spec"]
		seen.asked(app)
		s.shown(t, app, false)
	}
	return err
}

func objectOf(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	for _, known := range kinds {
		if known.Kind == kind {
			object.SetGroupVersionKind(known)
		}
	}
	return object
}

// settled returns the state when a step without faults is over: the status is true and as expected, and no request is made any more.
func (s *stage) settled(t *testing.T, step step) state {
	t.Helper()
	var end state
	harness.Eventually(t, "settle", func() error {
		objects, err := seen.objects(t.Context(), s.namespace)
		if err != nil {
			return err
		}
		if err := s.over(step, objects); err != nil {
			return err
		}
		if !s.quiet() {
			return fmt.Errorf("something still happens")
		}
		if end, err = stateOf(s.namespace, objects); err != nil {
			return err
		}
		return s.lacks(t, step.expect, objects, end)
	})
	return end
}

func (s *stage) over(step step, objects map[string]*unstructured.Unstructured) error {
	if len(step.remove) > 0 && step.remove[0] == s.kind {
		return left(objects)
	}
	app, err := servedOf(s.kind, objects)
	if err != nil || app == nil {
		return fmt.Errorf("there is no %s yet: %w", s.kind, err)
	}
	wanted := metav1.ConditionTrue
	if step.ready != "" {
		wanted = step.ready
	}
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Status != wanted || step.reason != "" && ready.Reason != step.reason || !strings.Contains(ready.Message, step.says) {
		return fmt.Errorf("Ready is %+v", ready)
	}
	if err := s.noticed(step, objects); err != nil {
		return err
	}
	if autoscaler := objects["HorizontalPodAutoscaler "+appName]; autoscaler != nil {
		if _, looked, _ := unstructured.NestedSlice(autoscaler.Object, "status", "conditions"); !looked {
			return fmt.Errorf("the autoscaler has not been looked at yet")
		}
	}
	if err := podless(objects); err != nil {
		return err
	}
	return lie(objects)
}

// left returns the objects that still exist after the AppService was deleted: oracle O6. Retained claims are allowed.
func left(objects map[string]*unstructured.Unstructured) error {
	objects = maps.Clone(objects)
	maps.DeleteFunc(objects, func(_ string, object *unstructured.Unstructured) bool {
		return object.GetAnnotations()[v1.AnnotationRetainedFor] != "" || object.GetLabels()[foreignLabel] != ""
	})
	if len(objects) == 0 {
		return nil
	}
	var names []string
	for name := range objects {
		names = append(names, name)
	}
	return fmt.Errorf("left are %s", strings.Join(names, ", "))
}
