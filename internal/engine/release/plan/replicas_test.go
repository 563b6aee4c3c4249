package plan

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// autoscaledWeb is a Deployment as it is rendered under autoscaling.
func autoscaledWeb(t *testing.T, initial int) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment,
		metadata: {name: web, namespace: demo, annotations: {%s: "%d"}}, spec: {selector: {matchLabels: {app: web}}}}`, v1.AnnotationInitialReplicas, initial))
}

// The note is not rendered, so it must not count as drift.
func TestTheNoteOfWhatAutoscalingStartedWithIsNoDrift(t *testing.T) {
	desired, live := autoscaledWeb(t, 5), autoscaledWeb(t, 5)
	put(t, live, "2", "metadata", "annotations", v1.AnnotationStartedWith)
	put(t, live, int64(9), "spec", "replicas")
	if plan := Compare([]*unstructured.Unstructured{desired}, there(live)); !plan.Empty() {
		t.Errorf("got %s, want nothing to write", plan)
	}
}

// A refused release that had begun to take over the replicas does not lose them to the one that is kept alive, and take them over again.
func TestTheLastGoodReleaseLeavesReplicasThatAreBeingHandedOver(t *testing.T) {
	recorded := autoscaledWeb(t, 2)
	put(t, recorded, int64(2), "spec", "replicas")
	unstructured.RemoveNestedField(recorded.Object, "metadata", "annotations", v1.AnnotationInitialReplicas)
	live := recorded.DeepCopy()
	put(t, live, "2", "metadata", "annotations", v1.AnnotationStartedWith)
	if plan := Compare([]*unstructured.Unstructured{recorded}, there(live)); plan.Empty() {
		t.Error("nobody sees that replicas are to be taken back")
	}
	if plan, _ := CompareLastGood([]*unstructured.Unstructured{recorded}, there(live)); !plan.Empty() {
		t.Errorf("got the plan %q", plan)
	}
	put(t, live, int64(9), "spec", "replicas")
	if plan, _ := CompareLastGood([]*unstructured.Unstructured{recorded}, there(live)); plan.Empty() {
		t.Error("an edit is not put back")
	}
}
