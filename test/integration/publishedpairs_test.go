//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// becomesRunning waits until a Cache is Ready, of its present generation, with so many replicas.
func becomesRunning(t *testing.T, cache *unstructured.Unstructured, replicas int32) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s runs with %d replicas", cache.GetName(), replicas), func() error {
		cluster.Refresh(t, cache)
		if observed, _, _ := unstructured.NestedInt64(cache.Object, "status", "observedGeneration"); observed != cache.GetGeneration() {
			return fmt.Errorf("generation %d is observed, of %d", observed, cache.GetGeneration())
		}
		if err := stands(cache, map[string]string{v1.ConditionReady: "True " + v1.ReasonRunning}); err != nil {
			return err
		}
		deployment := &appsv1.Deployment{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), deployment); err != nil {
			return err
		}
		return want("replicas", *deployment.Spec.Replicas, replicas)
	})
}

// A published chart's resources have drift corrected, go back, restart, follow new charts and keep theirs, as those of
// other charts. The fields paused and ttl of its spec are the chart's.
func TestAPublishedChartMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir, watches := publishedFolder(t, `grants: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]`)
	manager := cluster.Unbound().Manager(t, namespace, func(o *operator.Options, _ *harness.Requests) { o.ChartDir, o.WatchesFile = dir, watches })
	cache := newCache(namespace, "a", map[string]any{"auth": map[string]any{"existingSecret": "mine"}, "replicas": int64(1),
		"paused": true, "ttl": "1s", "onFailure": map[string]any{"action": "Return"}, "size": int64(7)})
	cluster.Create(t, cache)
	becomesRunning(t, cache, 1)
	manager.Rest(t)

	role := &rbacv1.Role{}
	cluster.Get(t, client.ObjectKeyFromObject(cache), role)
	cluster.Edit(t, role, func() { role.Rules[0].Verbs = []string{"get", "list", "delete"} })
	cluster.Becomes(t, "a role is as it is granted", role, func() error { return want("verbs", len(role.Rules[0].Verbs), 2) })
	cluster.Delete(t, role)
	harness.Eventually(t, "it comes back", func() error {
		return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), &rbacv1.Role{})
	})

	cluster.Edit(t, cache, func() { cache.Object["spec"].(map[string]any)["replicas"] = int64(2) })
	becomesRunning(t, cache, 2)
	past, err := history.List(t.Context(), cluster.Client, cache)
	require.NoError(t, err)
	require.Len(t, past, 2)
	back, err := history.PlanUndo(cache, past, 1)
	require.NoError(t, err)
	require.NoError(t, back.Write(t.Context(), cluster.Client, "kubectl-appservice", false))
	becomesRunning(t, cache, 1)

	deployment := &appsv1.Deployment{}
	cluster.Get(t, client.ObjectKeyFromObject(cache), deployment)
	cluster.Edit(t, cache, func() { cache.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: "now"}) })
	cluster.Becomes(t, "its pods restart", deployment, func() error {
		return want("restarted", deployment.Spec.Template.Annotations[v1.AnnotationRestartedAt], "now")
	})
	becomesRunning(t, cache, 1)
	manager.Rest(t)

	const template = "cache/templates/deployment.yaml"
	next := strings.Replace(publishedFiles["templates/deployment.yaml"], "annotations: {", "annotations: {chart: two, ", 1)
	files.Write(t, filepath.Join(dir, template), next)
	cluster.Becomes(t, "a new chart is taken", deployment, func() error { return want("chart", deployment.Annotations["chart"], "two") })
	becomesRunning(t, cache, 1)
	manager.Rest(t)
	before := deployment.Generation
	files.Write(t, filepath.Join(dir, template), strings.Replace(next, "chart: two", "chart: {{ randAlpha 8 }}", 1))
	harness.Eventually(t, "a chart whose random value lands is held back", func() error {
		problems, err := problemsOf(t, cache)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			if problem["reason"] == v1.ReasonRolloutHeldBack && strings.Contains(problem["message"], "differs in each render") {
				return nil
			}
		}
		return fmt.Errorf("its problems are %v", problems)
	})
	cluster.Get(t, client.ObjectKeyFromObject(cache), deployment)
	assert.Equal(t, before, deployment.Generation)
	assert.Equal(t, "two", deployment.Annotations["chart"])

	cluster.Delete(t, cache)
	harness.Eventually(t, "all is deleted", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), deployment); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the Deployment is there: %w", err)
		}
		return nil
	})
}
