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
	"github.com/example/appservice-operator/internal/cli/history"
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
