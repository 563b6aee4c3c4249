package status

import (
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

func TestWhatAnObjectWaitsFor(t *testing.T) {
	scaler := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType, reason string) client.Object {
		return &autoscalingv2.HorizontalPodAutoscaler{Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: "it says why"}},
		}}
	}
	whole := func(status map[string]any) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "status": status}}
	}
	route := func(accepted string) client.Object {
		condition := map[string]any{"type": "Accepted", "status": accepted, "message": "no such gateway"}
		return whole(map[string]any{"parents": []any{map[string]any{"conditions": []any{condition}}}})
	}
	going := &corev1.ConfigMap{}
	going.DeletionTimestamp = &now
	balanced := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
	waiting := balanced.DeepCopy()
	balanced.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	for name, test := range map[string]struct {
		object client.Object
		want   string
	}{
		"nothing":                           {nil, "it is not there"},
		"a Secret, of which metadata":       {kube.Metadata(kube.SecretKind), ""},
		"a ConfigMap":                       {&corev1.ConfigMap{}, ""},
		"a ConfigMap that is going":         {going, "it is being deleted"},
		"a Deployment that is complete":     {deployment(counts{2, 2, 2, 2}), ""},
		"a Deployment that is not":          {deployment(counts{2, 2, 2, 1}), "1 of 2 replicas are available"},
		"a Service":                         {&corev1.Service{}, ""},
		"a load balancer":                   {balanced, ""},
		"a load balancer without address":   {waiting, "no load balancer has given it an address"},
		"a claim":                           {&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}, ""},
		"a claim without volume":            {&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}, "no volume is bound to it, it is Pending"},
		"an autoscaler without metrics":     {scaler(autoscalingv2.ScalingActive, "FailedGetResourceMetric"), "it says why"},
		"an autoscaler that is off":         {scaler(autoscalingv2.ScalingActive, "ScalingDisabled"), ""},
		"an autoscaler within its limits":   {scaler(autoscalingv2.ScalingLimited, "DesiredWithinRange"), ""},
		"a StatefulSet on its way":          {&appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}}, "Replicas: 0/1"},
		"a custom resource":                 {whole(nil), ""},
		"a custom resource that waits":      {whole(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "message": "not yet"}}}), "not yet"},
		"a route that a gateway accepts":    {route("True"), ""},
		"a route that no gateway accepts":   {route("False"), "Accepted: no such gateway"},
		"a route that nobody has looked at": {whole(map[string]any{"parents": []any{}}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := waitsFor(test.object); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestResources(t *testing.T) {
	key := func(group, kind, name string) kube.Key {
		return kube.Key{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name}
	}
	in := states()["rolling out for the first time"].input(t)
	in.Rendered = []kube.Key{key("", "Service", "web"), key("apps", "Deployment", "web")}
	want := []v1.ResourceStatus{
		{Kind: "Service", Name: "web", Message: "it is not there"},
		{Kind: "Deployment", Name: "web", Message: "0 of 2 replicas are available"},
	}
	in.Previous = Summarize(in)
	if got := in.Previous.Resources; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	in.Rendered = nil
	if got := Summarize(in).Resources; !reflect.DeepEqual(got, want) {
		t.Errorf("where nothing can be rendered: got %v, want what was there before", got)
	}
}
