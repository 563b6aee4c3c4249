package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeletions(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 35, 0, time.UTC))
	meta := func(finalizers ...string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "demo", Name: "web", DeletionTimestamp: &at, Finalizers: finalizers}
	}
	typed := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }
	pod := &corev1.Pod{ObjectMeta: meta(), Spec: corev1.PodSpec{NodeName: "n"}}
	pod.DeletionGracePeriodSeconds = new(int64(30))
	namespace := &corev1.Namespace{TypeMeta: typed("Namespace"), ObjectMeta: meta()}
	namespace.Namespace = ""
	namespace.Status.Conditions = []corev1.NamespaceCondition{{Status: corev1.ConditionTrue, Message: "a.example.com has 1 resource instance"}}
	for name, test := range map[string]struct {
		object       client.Object
		want, remedy string
	}{
		"a pod":                        {pod, "since 2026-01-02T03:04:05Z", `if node "n" is lost, delete it (kubectl delete node n); if the pod certainly no longer runs: kubectl delete pod web --namespace=demo --force`},
		"a claim":                      {&corev1.PersistentVolumeClaim{ObjectMeta: meta("kubernetes.io/pvc-protection")}, "since 2026-01-02T03:04:35Z, blocked by finalizer kubernetes.io/pvc-protection", "delete the pods that still mount it (kubectl describe persistentvolumeclaim web --namespace=demo): its data go with it"},
		"a load balancer":              {&corev1.Service{TypeMeta: typed("Service"), ObjectMeta: meta("service.kubernetes.io/load-balancer-cleanup")}, "since 2026-01-02T03:04:35Z, blocked by finalizer service.kubernetes.io/load-balancer-cleanup", "have the cluster's load balancer controller delete the load balancer (kubectl describe service web --namespace=demo)"},
		"a finalizer of others":        {&corev1.Service{TypeMeta: typed("Service"), ObjectMeta: meta("a/b", "c/d")}, "since 2026-01-02T03:04:35Z, blocked by finalizer a/b, c/d", `have the controller of the finalizer finish; if it is gone: kubectl patch service web --namespace=demo --type=merge --patch='{"metadata":{"finalizers":null}}'`},
		"a namespace":                  {namespace, "since 2026-01-02T03:04:35Z, a.example.com has 1 resource instance", "delete the objects that the message names, or have their controllers finish"},
		"an object that nothing holds": {&corev1.ConfigMap{TypeMeta: typed("ConfigMap"), ObjectMeta: meta()}, "since 2026-01-02T03:04:35Z", "see kubectl describe configmap web --namespace=demo"},
	} {
		t.Run(name, func(t *testing.T) {
			d := DeletionOf(test.object)
			assert.Equal(t, test.want, d.String())
			assert.Equal(t, test.remedy, d.Remedy())
			assert.False(t, d.Overdue(at.Add(29*time.Second)))
			assert.True(t, d.Overdue(at.Add(30*time.Second)))
		})
	}
	assert.Nil(t, DeletionOf(&corev1.Pod{}))
}
