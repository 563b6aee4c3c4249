package health

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestARolloutOfAStatefulSetHasADeadlineForEachReplica(t *testing.T) {
	rolling := appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2, CurrentRevision: "a", UpdateRevision: "b"}
	crashed := appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 2, CurrentRevision: "b", UpdateRevision: "b"}
	done := appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, CurrentRevision: "b", UpdateRevision: "b"}
	for name, test := range map[string]struct {
		status   appsv1.StatefulSetStatus
		deadline string
		after    time.Duration // since the release
		want     Verdict
		reason   string
		until    time.Duration // after the release; zero for none
	}{
		"in time":                {rolling, "60", 179 * time.Second, Waiting, v1.ReasonRollingOut, 180 * time.Second},
		"too late":               {rolling, "60", 180 * time.Second, Stuck, v1.ReasonRolloutStalled, 0},
		"without a deadline":     {rolling, "", time.Hour, Waiting, v1.ReasonRollingOut, 0},
		"complete":               {done, "60", time.Hour, Ready, v1.ReasonRunning, 0},
		"a pod crashes later on": {crashed, "60", time.Hour, Waiting, v1.ReasonRollingOut, 0},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
				ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: metav1.NewTime(created.Add(-24 * time.Hour)), Annotations: map[string]string{v1.AnnotationProgressDeadline: test.deadline}},
				Spec:       appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3)}, Status: test.status,
			}
			got := Of(set, Facts{Now: created.Add(test.after), Since: created})
			if got.Verdict != test.want || got.Reason != test.reason {
				t.Errorf("got %+v, want verdict %d, reason %s", got, test.want, test.reason)
			}
			if test.until == 0 && !got.Until.IsZero() || test.until != 0 && !got.Until.Equal(created.Add(test.until)) {
				t.Errorf("it is judged again at %s", got.Until)
			}
		})
	}
}
