//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

// pastOf returns an AppService as it is stored, and its releases, once there are so many.
func pastOf(t *testing.T, app *v1.AppService, releases int) (*unstructured.Unstructured, []history.Revision) {
	t.Helper()
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	var list []history.Revision
	harness.Eventually(t, fmt.Sprintf("%d releases are recorded", releases), func() (err error) {
		if err = cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), stored); err != nil {
			return err
		}
		if list, err = history.List(t.Context(), cluster.Client, stored); err != nil {
			return err
		}
		return want("releases", len(list), releases)
	})
	return stored, list
}

// runningOf is the desired state of the Deployment and the Service of an AppService.
func runningOf(t *testing.T, app *v1.AppService) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, kind := range []schema.GroupVersionKind{appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service")} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		cluster.Get(t, client.ObjectKeyFromObject(app), object)
		out[kind.Kind] = endstate.Anonymous(app, map[string]any{"spec": object.Object["spec"], "labels": object.GetLabels()})
	}
	return out
}

// A user who goes back changes the spec, and the operator makes a new release that equals the earlier one.
func TestGoingBackToAFormerRelease(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Envs = []corev1.EnvVar{{Name: "OLD", Value: "1"}}
	cluster.CreateReady(t, app)
	manager.Rest(t)
	first := runningOf(t, app)
	change := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"image":"nginx:1.27","envs":null,"size":1}}`))
	cluster.Patch(t, app, change, client.FieldOwner("ada"))
	cluster.Ready(t, app)

	stored, past := pastOf(t, app, 2)
	if last := past[1]; last.ChangedBy != "ada" || !last.Restarts || last.ChangedAt.IsZero() || !strings.Contains(strings.Join(last.Changes, "; "), "spec.image nginx:1.7.9 → nginx:1.27") {
		t.Errorf("of the second release it says %+v", last)
	}
	plan, err := history.PlanUndo(stored, past, 1)
	require.NoError(t, err)
	if err := plan.Write(t.Context(), cluster.Client, "kubectl-appservice", true); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	require.NoError(t, plan.Write(t.Context(), cluster.Client, "kubectl-appservice", false))
	cluster.Ready(t, app)
	_, past = pastOf(t, app, 3)
	manager.Rest(t)
	if differs := endstate.Differences("", first, runningOf(t, app)); len(differs) > 0 {
		t.Errorf("revision 3 is not as revision 1 was:\n%s", strings.Join(differs, "\n"))
	}
	if changes := history.ObjectChanges(&past[0], &past[2]); len(changes) > 0 {
		t.Errorf("the objects of revision 3 are not those of revision 1: %v", changes)
	}
	if past[2].ChangedBy != "kubectl-appservice" {
		t.Errorf("it was changed by %q", past[2].ChangedBy)
	}
}

// goBack restores the spec of a revision, 0 for that which undo chooses, with or without its release task.
func goBack(t *testing.T, app *v1.AppService, releases, to int, run bool) {
	t.Helper()
	stored, past := pastOf(t, app, releases)
	plan, err := history.PlanUndo(stored, past, to)
	require.NoError(t, err)
	require.True(t, plan.HasTask)
	require.Len(t, plan.RanCommands, 1)
	plan.Skip(plan.RanCommands[0])
	if run {
		plan.Skip("")
	}
	require.NoError(t, plan.Write(t.Context(), cluster.Client, "kubectl-appservice", true), "a dry run")
	require.NoError(t, plan.Write(t.Context(), cluster.Client, "kubectl-appservice", false))
	cluster.Ready(t, app)
}

// The task of a version that is gone back to has run, and does not run again unless that is asked for: whatever the version after it did,
// it may not stand it. It is left out because the annotation names it, and no other task is.
func TestGoingBackLeavesTheReleaseTaskOut(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace)
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "shop:2" })
	cluster.Ready(t, app)

	goBack(t, app, 2, 1, false)
	require.NoError(t, noted(t, app, v1.RunSkipped))
	require.Equal(t, "shop:1", imageOf(t, app))
	require.NoError(t, counted.are("shop:1", "shop:2"))

	cluster.Patch(t, app, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":"ours"}}}`)))
	goBack(t, app, 3, 2, true)
	require.NoError(t, noted(t, app, v1.RunComplete))
	require.Equal(t, map[string]string{"note": "ours"}, app.Annotations)
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:2"))

	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image = "shop:3"
		scriptTask(app, fails)
	})
	cluster.Condition(t, app, v1.ConditionStalled, "True", v1.ReasonJobFailed)
	goBack(t, app, 4, 0, false)
	manager.Rest(t)
	require.NoError(t, noted(t, app, v1.RunSkipped))
	require.Equal(t, "shop:2", imageOf(t, app))
	require.Equal(t, "ours", app.Annotations["note"])
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:2", "shop:3"))

	names := app.Annotations[v1.AnnotationSkipTask]
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = nil })
	manager.Rest(t)
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:2", "shop:3"))
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image, app.Annotations = "shop:4", map[string]string{v1.AnnotationSkipTask: names}
	})
	cluster.Ready(t, app)
	require.NoError(t, counted.are("shop:1", "shop:2", "shop:2", "shop:3", "shop:4"))
}
