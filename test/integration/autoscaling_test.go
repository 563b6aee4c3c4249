package integration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// aboutRequests returns the messages of problems about a target that is a share of no request.
func aboutRequests(app *v1.AppService) []string {
	var messages []string
	for _, problem := range app.Status.Problems {
		if problem.Reason == v1.ReasonAutoscalingRequestMissing {
			messages = append(messages, string(problem.Type)+": "+problem.Message)
		}
	}
	return messages
}

// TestATargetNeedsARequest: the pod template and the LimitRange of the namespace determine whether the pods have requests.
func TestATargetNeedsARequest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(spec *v1.AppServiceSpec)
		limits corev1.ResourceList // the default request of the LimitRange; nil for none
		stuck  string              // part of the message of Ready; empty if it becomes ready
		warns  string              // part of a warning; empty for none
	}{
		"nothing is requested": {
			change: func(s *v1.AppServiceSpec) {},
			stuck:  `container "app" requests no cpu`,
		},
		"a sidecar requests nothing": {
			change: func(s *v1.AppServiceSpec) {
				s.Resources = cpuRequest()
				s.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy:1"}}
			},
			stuck: `container "proxy" requests no cpu`,
		},
		"there is a limit": {
			change: func(s *v1.AppServiceSpec) {
				s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}
			},
		},
		"the namespace has a default": {
			change: func(s *v1.AppServiceSpec) {},
			limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		},
		"one target of two has its request": {
			change: func(s *v1.AppServiceSpec) {
				s.Resources = cpuRequest()
				s.Autoscaling.TargetCPUUtilizationPercentage, s.Autoscaling.TargetMemoryUtilizationPercentage = ptr.To[int32](80), ptr.To[int32](80)
			},
			warns: `Warning: one target of several does nothing: container "app" requests no memory`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			if test.limits != nil {
				cluster.Create(t, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "defaults"}, Spec: corev1.LimitRangeSpec{
					Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, DefaultRequest: test.limits}},
				}})
			}
			cluster.Manager(t, namespace)
			app := harness.Seed(namespace, "web")
			app.Spec.Size = ptr.To[int32](1)
			app.Spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 3, Behavior: noScaleDown()}
			test.change(&app.Spec)
			cluster.Create(t, app)
			if test.stuck != "" {
				condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonAutoscalingRequestMissing)
				if !strings.Contains(condition.Message, test.stuck) {
					t.Errorf("the message lacks %q: %s", test.stuck, condition.Message)
				}
				cluster.Change(t, app, func(app *v1.AppService) {
					app.Spec.Resources = cpuRequest()
					for i := range app.Spec.Sidecars {
						app.Spec.Sidecars[i].Resources = *cpuRequest()
					}
				})
			}
			cluster.Ready(t, app)
			got := aboutRequests(app)
			if test.warns == "" && len(got) > 0 || test.warns != "" && !slices.ContainsFunc(got, func(m string) bool { return strings.Contains(m, test.warns) }) {
				t.Errorf("the problems say %q, want %q", got, test.warns)
			}
		})
	}
}
