//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The samples of kinds that only their charts declare become ready like those of AppService, and then cause no more requests.
func TestSamplesOfKindsWithoutAGoType(t *testing.T) {
	t.Parallel()
	for _, file := range allSamples(t) {
		if isAppService(t, file) || file == nightly { // which waits for an AppService, in a test of its own
			continue
		}
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			for _, object := range documents(t, filepath.Join(fixtures, "samples", file)) {
				createFixture(t, t, namespace, object)
			}
			manager := cluster.Manager(t, namespace)
			sample := documents(t, filepath.Join(samples, file))[0]
			sample.SetNamespace(namespace)
			cluster.Create(t, sample, client.FieldValidation(metav1.FieldValidationStrict))
			becomesReady(t, sample)
			manager.Rest(t)
			cluster.Refresh(t, sample)
			before := sample.Object["status"]
			mark := manager.Requests.Mark()
			note := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/note":"x"}}}`))
			if err := cluster.Client.Patch(t.Context(), sample, note); err != nil { // causes a reconcile
				t.Fatal(err)
			}
			manager.Rest(t)
			if writes := manager.Requests.WritesSince(mark); len(writes) > 0 {
				becomesReady(t, sample)
				t.Errorf("a reconcile that has nothing to do wrote %v; the status was\n%v\nand is\n%v", writes, before, sample.Object["status"])
			}
		})
	}
}

// becomesReady waits until a resource is ready, of its present generation and without a problem.
func becomesReady(t *testing.T, resource *unstructured.Unstructured) {
	t.Helper()
	harness.Eventually(t, "it is ready", func() error {
		problems, err := problemsOf(t, resource)
		if err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
		for _, entry := range list {
			condition := entry.(map[string]any)
			if condition["type"] == v1.ConditionReady && condition["status"] == "True" && condition["observedGeneration"] == resource.GetGeneration() {
				return want("problems", len(problems), 0)
			}
		}
		return fmt.Errorf("its conditions are %v, its problems %v", list, problems)
	})
}
