package status

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

func TestTheStatusOfAStatefulSet(t *testing.T) {
	for name, test := range map[string]struct {
		want      int32
		have      appsv1.StatefulSetStatus
		stuck     bool
		available metav1.ConditionStatus
		progress  string
		phase     v1.Phase
	}{
		"all are there":             {3, appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3}, false, metav1.ConditionTrue, v1.ReasonRunning, v1.PhaseRunning},
		"one is replaced":           {3, appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 1, ReadyReplicas: 2, AvailableReplicas: 2}, false, metav1.ConditionTrue, v1.ReasonRollingOut, v1.PhaseUpdating},
		"two are missing":           {3, appsv1.StatefulSetStatus{Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}, false, metav1.ConditionFalse, v1.ReasonRollingOut, v1.PhaseUpdating},
		"the only one is replaced":  {1, appsv1.StatefulSetStatus{Replicas: 1, UpdatedReplicas: 1}, false, metav1.ConditionFalse, v1.ReasonRollingOut, v1.PhaseUpdating},
		"none is wanted":            {0, appsv1.StatefulSetStatus{}, false, metav1.ConditionTrue, v1.ReasonScaledToZero, v1.PhaseRunning},
		"stuck while others serve":  {3, appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 1, ReadyReplicas: 2, AvailableReplicas: 2}, true, metav1.ConditionTrue, v1.ReasonRollingOut, v1.PhaseDegraded},
		"stuck while nobody serves": {1, appsv1.StatefulSetStatus{Replicas: 1, UpdatedReplicas: 1}, true, metav1.ConditionFalse, v1.ReasonRollingOut, v1.PhaseFailed},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{
				TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "demo"},
				Spec: appsv1.StatefulSetSpec{Replicas: &test.want, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}, Status: test.have,
			}
			there := snapshot(t)
			there.Objects[kube.KeyOf(set)] = set
			in := Input{Resource: resource(), Previous: &v1.AppServiceStatus{Phase: v1.PhaseRunning}, Snapshot: there, Rendered: []kube.Key{kube.KeyOf(set)}}
			if test.stuck {
				in.Causes = map[kube.Key][]diagnose.Cause{kube.KeyOf(set): {{Reason: v1.ReasonImageNotFound, Message: "no image", Effect: diagnose.Lasting}}}
			}
			got, _ := Summarize(in)
			if condition := meta.FindStatusCondition(got.Conditions, v1.ConditionAvailable); condition.Status != test.available {
				t.Errorf("Available: got %+v", condition)
			}
			if condition := meta.FindStatusCondition(got.Conditions, v1.ConditionProgressing); condition.Reason != test.progress || condition.Status != metav1.ConditionTrue {
				t.Errorf("Progressing: got %+v", condition)
			}
			assert.Equal(t, test.phase, got.Phase, "phase")
		})
	}
}

func TestASizeIsIgnoredOfAnAutoscaledStatefulSet(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1.AnnotationInitialReplicas: "5", v1.AnnotationStartedWith: "2"}}}
	if problems := ignoredSize(set); len(problems) != 1 || problems[0].Reason != v1.ReasonSizeIgnored {
		t.Errorf("got %+v", problems)
	}
}
