package plan

import (
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// An eviction that ends after its first write has to be seen again.
func TestAnInterruptedEvictionIsSeenAgain(t *testing.T) {
	desired, live := object(t, renderedDeployment), object(t, liveDeployment)
	containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	app := containers[0].(map[string]any)
	app["env"] = append(app["env"].([]any), map[string]any{"name": "FOREIGN", "value": "1"})
	_ = unstructured.SetNestedSlice(live.Object, containers, "spec", "template", "spec", "containers")
	env := func(name string) string {
		return `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:env":{"k:{\"name\":\"` + name + `\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`
	}
	live.SetResourceVersion("7")
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(env("A"))},
		{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(env("FOREIGN"))},
	})
	plan := func() *Plan { return Compare([]*unstructured.Unstructured{desired}, there(live.DeepCopy())) }
	if found := plan(); found.Empty() || !found.Apply[0].Added {
		t.Fatalf("what was added is not seen: %v", found)
	}
	patch, err := Eviction(live, StampOf(live)) // the first write; the second is lost
	require.NoError(t, err)
	operations, err := jsonpatch.DecodePatch(patch)
	require.NoError(t, err)
	before, err := json.Marshal(live)
	require.NoError(t, err)
	after, err := operations.Apply(before)
	require.NoError(t, err)
	require.NoError(t, live.UnmarshalJSON(after))
	if entries := live.GetManagedFields(); len(entries) != 1 || !strings.Contains(entries[0].FieldsV1.GetRawString(), "FOREIGN") {
		t.Errorf("it is still somebody else's: %v", entries)
	}
	if plan().Empty() {
		t.Error("it is there and is not seen any more")
	}
}

// The stamp is removed, to show that the apply is still due. Another one already shows that, and taking it off would
// raise the generation of a Deployment once more.
func TestAnEvictionLeavesAnotherStamp(t *testing.T) {
	live := object(t, liveDeployment)
	live.SetAnnotations(map[string]string{postrender.AnnotationStamp: "one"})
	for rendered, removes := range map[string]bool{"one": true, "two": false} {
		patch, err := Eviction(live, rendered)
		require.NoError(t, err)
		assert.Equal(t, removes, strings.Contains(string(patch), `"op":"remove"`), "rendered with stamp %s: %s", rendered, patch)
	}
}
