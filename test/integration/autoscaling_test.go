//go:build cluster

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
			stuck:  `container "app" has no cpu`,
		},
		"a sidecar requests nothing": {
			change: func(s *v1.AppServiceSpec) {
				s.Resources = cpuRequest()
				s.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy:1"}}
			},
			stuck: `container "proxy" has no cpu`,
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
			warns: `Warning: the memory target is ignored (other targets still scale): container "app" has no memory request`,
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
			warned := func(m string) bool { return strings.Contains(m, test.warns) }
			cluster.Becomes(t, "the autoscaler has looked at the pods", app, func() error { // which takes it some looks, if it begins before they run
				if got := aboutRequests(app); test.warns == "" && len(got) > 0 || test.warns != "" && !slices.ContainsFunc(got, warned) {
					return fmt.Errorf("the problems say %q, want %q", got, test.warns)
				}
				return nil
			})
		})
	}
}

// A workload that its autoscaler has grown keeps its replicas, however it is taken back.
func TestWhatIsTakenBackKeepsTheReplicasOfItsAutoscaler(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	scalers := map[string]*v1.Autoscaling{
		"HorizontalPodAutoscaler": {MaxReplicas: 20, Behavior: noScaleDown()},
		"ScaledObject":            {MinReplicas: ptr.To[int32](1), MaxReplicas: 20, Triggers: []v1.Trigger{{Type: "cron"}}},
	}
	loses := func(metadata string) func(*testing.T, *v1.AppService) *v1.AppService {
		return func(t *testing.T, app *v1.AppService) *v1.AppService {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":`+metadata+`}`))
			cluster.Patch(t, named(app, &appsv1.Deployment{}), patch)
			return app
		}
	}
	ways := map[string]func(*testing.T, *v1.AppService) *v1.AppService{
		"its label is removed": loses(`{"labels":{"` + v1.LabelManaged + `":null}}`),
		"its owner is removed": loses(`{"ownerReferences":null}`),
		"it was orphaned": func(t *testing.T, app *v1.AppService) *v1.AppService {
			again := harness.Seed(app.Namespace, app.Name)
			again.Spec, again.Annotations = app.Spec, map[string]string{v1.AnnotationAdopt: "true"}
			cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
			harness.Eventually(t, "the AppService is gone", func() error { return gone(t, app.Namespace, app.Name, &v1.AppService{}) })
			cluster.Create(t, again)
			return again
		},
	}
	for scaler, autoscaling := range scalers {
		for way, take := range ways {
			t.Run(scaler+": "+way, func(t *testing.T) {
				t.Parallel()
				namespace, manager := cluster.ManagedNamespace(t)
				app := harness.Seed(namespace, "web")
				app.Spec.Size, app.Spec.Resources, app.Spec.Autoscaling = ptr.To[int32](1), cpuRequest(), autoscaling
				cluster.CreateReady(t, app)
				workload := named(app, &appsv1.Deployment{})
				cluster.Patch(t, workload, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":10}}`)))
				cluster.Ready(t, app)
				manager.Rest(t)
				least := watchReplicas(t, app)
				app = take(t, app)
				cluster.Becomes(t, "it is taken back", workload, func() error {
					if owner := metav1.GetControllerOf(workload); workload.Labels[v1.LabelManaged] != "true" || owner == nil || owner.UID != app.UID {
						return fmt.Errorf("it has the labels %v and the owner %v", workload.Labels, owner)
					}
					return nil
				})
				cluster.Ready(t, app)
				manager.Rest(t)
				if got := least(); got != 10 {
					t.Errorf("it had %d replicas, want the 10 of its autoscaler all the time", got)
				}
			})
		}
	}
}
