package kube

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestWhatCanHaveChanged(t *testing.T) {
	deployment := func(change func(*appsv1.Deployment)) client.Object {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			UID: "d", ResourceVersion: "6", Generation: 2, Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"a": "b"},
			OwnerReferences: []metav1.OwnerReference{{UID: "o"}},
		}}
		change(d)
		return d
	}
	before := deployment(func(d *appsv1.Deployment) { d.ResourceVersion = "5" })
	now := metav1.Now()
	for name, test := range map[string]struct {
		before, after client.Object
		want          bool
	}{
		"the same version":    {before, before, true},
		"its status":          {before, deployment(func(d *appsv1.Deployment) { d.Status.Replicas = 1 }), true},
		"its spec":            {before, deployment(func(d *appsv1.Deployment) { d.Generation = 3 }), false},
		"another of its name": {before, deployment(func(d *appsv1.Deployment) { d.UID = "e" }), false},
		"a label":             {before, deployment(func(d *appsv1.Deployment) { d.Labels = nil }), false},
		"an annotation":       {before, deployment(func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": "c"} }), false},
		"its owner":           {before, deployment(func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "p" }), false},
		"a finalizer":         {before, deployment(func(d *appsv1.Deployment) { d.Finalizers = []string{"x"} }), false},
		"that it is deleted":  {before, deployment(func(d *appsv1.Deployment) { d.DeletionTimestamp = &now }), false},
		"who owns its fields": {before, deployment(func(d *appsv1.Deployment) { d.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}} }), true},
		"a kind without generation, in another version":  {service("5"), service("6"), false},
		"a kind without generation, in the same version": {service("5"), service("5"), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SameButStatus(test.before, test.after); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func service(version string) client.Object {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "s", ResourceVersion: version}}
}
