package dashboard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
)

var (
	now     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	earlier = metav1.NewTime(now.Add(-time.Hour))
)

// web is an AppService with a status.
func web(t *testing.T, name string, status v1.AppServiceStatus) *unstructured.Unstructured {
	t.Helper()
	app := &v1.AppService{TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 2, CreationTimestamp: earlier}, Status: status}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(app)
	require.NoError(t, err)
	return &unstructured.Unstructured{Object: content}
}

func condition(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: v1.ConditionReady, Status: status, Reason: reason, Message: message, LastTransitionTime: earlier}}
}

func TestARowSaysWhyAResourceIsNotReady(t *testing.T) {
	crash := v1.Problem{Type: v1.ProblemError, Reason: "ContainerCrashed", Message: "it crashes", Hint: "see its log"}
	advice := v1.Problem{Type: v1.ProblemWarning, Reason: "NoMetrics", Message: "no metrics"}
	later := v1.Problem{Type: v1.ProblemError, Reason: "Later", Hint: "none of it"}
	for name, test := range map[string]struct {
		status v1.AppServiceStatus
		want   Row
	}{
		"ready": {v1.AppServiceStatus{ObservedGeneration: 2, Phase: v1.PhaseRunning, Readiness: "2/2", Conditions: condition("True", "Running", "")},
			Row{Ready: true, Phase: "Running", Replicas: "2/2", Since: earlier.UTC()}},
		"ready with a warning": {v1.AppServiceStatus{ObservedGeneration: 2, Problems: []v1.Problem{advice, later}, Conditions: condition("True", "Running", "")},
			Row{Ready: true, Reason: "NoMetrics", Message: "no metrics", Since: earlier.UTC()}},
		"not ready": {v1.AppServiceStatus{ObservedGeneration: 2, Phase: v1.PhaseDegraded, Problems: []v1.Problem{advice, crash, later},
			Conditions: condition("False", "ContainerCrashed", "it crashes"+strings.Repeat("x", longest))},
			Row{Phase: "Degraded", Reason: "ContainerCrashed", Message: "it crashes" + strings.Repeat("x", longest-11) + "…", Hint: "see its log", Since: earlier.UTC()}},
		"of an earlier spec": {v1.AppServiceStatus{ObservedGeneration: 1, Conditions: condition("True", "Running", "")},
			Row{Reason: "Unnoticed", Message: "the operator has not reconciled the latest spec yet", Since: earlier.UTC()}},
		"without a status": {v1.AppServiceStatus{},
			Row{Reason: "Unnoticed", Message: "the operator has not reconciled the latest spec yet", Since: earlier.UTC()}},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.ID = "AppService.app.example.com/shop/web"
			assert.Equal(t, test.want, rowOf(web(t, "web", test.status), now))
		})
	}
}

func TestARowSaysThatAResourceIsBeingDeleted(t *testing.T) {
	resource := web(t, "web", v1.AppServiceStatus{ObservedGeneration: 1, Conditions: condition("True", "Running", "")})
	resource.SetDeletionTimestamp(&earlier)
	resource.SetFinalizers([]string{"foregroundDeletion"})
	row := rowOf(resource, now)
	assert.False(t, row.Ready)
	assert.Equal(t, "Deleting", row.Reason)
	assert.Contains(t, row.Message, "blocked by finalizer foregroundDeletion")
}

func TestListenersGetWhatChanges(t *testing.T) {
	list := newRows()
	list.put(Row{ID: "b"})
	list.put(Row{ID: "a"})
	begin, changes, stop := list.listen()
	assert.ElementsMatch(t, []Row{{ID: "a"}, {ID: "b"}}, begin.Rows)
	list.put(Row{ID: "a"})
	list.put(Row{ID: "a", Ready: true})
	list.remove("b")
	list.remove("b")
	require.Len(t, changes, 2, "the same row and the same deletion are no changes")
	assert.Equal(t, change{"row", Row{ID: "a", Ready: true}}, <-changes)
	assert.Equal(t, change{"gone", "b"}, <-changes)
	stop()
	list.put(Row{ID: "c"})
	assert.Empty(t, changes)
}

func TestAListenerThatIsTooSlowEnds(t *testing.T) {
	list := newRows()
	none, _, stop := list.listen()
	assert.NotNil(t, none.Rows, "null is no list for the page")
	stop()
	_, changes, stop := list.listen()
	defer stop()
	for n := range waiting + 1 {
		list.put(Row{ID: fmt.Sprint(n)})
	}
	count := 0
	for range changes {
		count++
	}
	assert.Equal(t, waiting, count)
}

func TestTheFirstViewOfAThousandIsSmall(t *testing.T) {
	all := first{Scope: "all namespaces", Kinds: []string{"AppService"}}
	for n := range 1000 {
		status := v1.AppServiceStatus{ObservedGeneration: 2, Phase: v1.PhaseRunning, Readiness: "2/2", Conditions: condition("True", "Running", "")}
		if n%10 == 0 {
			status.Phase, status.Conditions = v1.PhaseDegraded, condition("False", "ContainerCrashed", strings.Repeat("why ", 300))
			status.Problems = []v1.Problem{{Type: v1.ProblemError, Reason: "ContainerCrashed", Hint: strings.Repeat("do ", 300)}}
		}
		all.Rows = append(all.Rows, rowOf(web(t, fmt.Sprintf("service-%d", n), status), now))
	}
	data, err := json.Marshal(all)
	require.NoError(t, err)
	assert.Less(t, len(data), 500_000)
}
