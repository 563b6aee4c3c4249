//go:build cluster

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A Service without an address from the cloud keeps Ready False, with the cloud's message as soon as there is one.
func TestALoadBalancerThatCannotBeHad(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Service = &v1.Service{Type: corev1.ServiceTypeLoadBalancer, ServiceSettings: v1.ServiceSettings{LoadBalancerClass: ptr.To(harness.NobodysBalancers)}}
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonLoadBalancerPending)
	if !strings.Contains(condition.Message, "Service web: no load balancer has assigned an address") {
		t.Errorf("it says %s", condition.Message)
	}
	service := &corev1.Service{}
	get(t, app, service)
	cluster.Create(t, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "refused"}, Type: corev1.EventTypeWarning, Reason: "SyncLoadBalancerFailed",
		Message: "Error syncing load balancer: failed to ensure load balancer: no addresses left in pool", LastTimestamp: metav1.NewTime(time.Now()),
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: "web", UID: service.UID},
	})
	condition = cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonLoadBalancerPending)
	if !strings.Contains(condition.Message, "no addresses left in pool") {
		t.Errorf("it says %s", condition.Message)
	}
	if app.Status.Phase != v1.PhaseDegraded {
		t.Errorf("the phase is %s, although the pods serve", app.Status.Phase)
	}
	if forbidden := manager.Requests.Forbidden(); len(forbidden) > 0 {
		t.Errorf("got the requests %v, which are forbidden", forbidden)
	}
}

// A route without a controller keeps Ready False, and is reported as ignored after some time.
func TestARouteThatNobodyLooksAt(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Route = &v1.Route{ParentRefs: []v1.RouteParent{{Name: harness.NobodysGateway}}, Hostnames: []string{namespace + ".example.com"}}
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteNotAccepted)
	if !strings.Contains(condition.Message, "HTTPRoute web: the route is not accepted") {
		t.Errorf("it says %s", condition.Message)
	}
}

// A storage class that waits for the first pod binds no volume while there are no replicas.
func TestAClaimThatNoReplicaMountsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	class := &storagev1.StorageClass{Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)}
	class.Name = "waits-" + namespace
	cluster.Create(t, class)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), class) })
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0)
	app.Spec.Persistence = &v1.Persistence{
		Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: &class.Name, Retain: ptr.To(false),
	}
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonVolumeNotBound)
}

// A rollout that kubectl rollout pause holds back is reported with the remedy, and continues after kubectl rollout resume.
func TestAPausedRolloutIsSaid(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	cluster.Patch(t, deployment, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"paused":true}}`)))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.9.1" })
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRolloutPaused)
	if !strings.Contains(condition.Message, "kubectl rollout resume deployment/web") || app.Status.Phase != v1.PhaseDegraded {
		t.Errorf("the phase is %s, and it says %s", app.Status.Phase, condition.Message)
	}
	cluster.Patch(t, deployment, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"paused":null}}`)))
	cluster.Ready(t, app)
}

// An API of metrics that the cluster does not serve keeps nothing from being ready that serves.
func TestAnAutoscalerWithoutMetricsIsAWarning(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 3, Metrics: []autoscalingv2.MetricSpec{{
		Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "queued"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: ptr.To(resource.MustParse("1"))},
		},
	}}}
	cluster.Create(t, app)
	cluster.Becomes(t, "web is ready with a warning", app, func() error {
		for _, problem := range app.Status.Problems {
			if problem.Reason == v1.ReasonAutoscalingMetricsMissing && problem.Type == v1.ProblemWarning {
				return nil
			}
		}
		return fmt.Errorf("it has the problems %+v", app.Status.Problems)
	})
	cluster.Ready(t, app)
}

// kubectl apply keeps all that it applied in an annotation, beside the spec.
func TestWhatKubectlAppliesMayBeAsLargeAsTheCRDLetsIn(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Config = &v1.Config{Files: map[string]v1.ConfigValue{"data.txt": v1.ConfigValue(strings.Repeat("x", 28<<10))}}
	applied, err := json.Marshal(app)
	require.NoError(t, err)
	app.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(applied)}
	cluster.CreateReady(t, app)
	if app.Annotations[corev1.LastAppliedConfigAnnotation] != string(applied) {
		t.Error("what kubectl needs for its next apply is gone")
	}
}
