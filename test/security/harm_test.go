//go:build cluster

package security

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// is returns nil if an object of the tenant's namespace exists and meets a condition.
func is[T client.Object](name string, holds func(T) bool) func(*scene) error {
	return func(s *scene) error { return of(s, s.namespace, name, holds) }
}

// of returns nil if an object exists and meets a condition.
func of[T client.Object](s *scene, namespace, name string, holds func(T) bool) error {
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	if err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: namespace, Name: s.words(name)}, object); err != nil {
		return err
	}
	if !holds(object) {
		return fmt.Errorf("%T %s is there, but is not so", object, name)
	}
	return nil
}

// anything is the condition that every object meets.
func anything[T client.Object](T) bool { return true }

// pods returns nil if the pods of AppService app meet a condition.
func pods(holds func(*corev1.PodSpec) bool) func(*scene) error {
	return is("app", func(d *appsv1.Deployment) bool { return holds(&d.Spec.Template.Spec) })
}

// ready returns nil if AppService app is ready for its present spec.
func ready(s *scene) error {
	condition, err := cluster.ConditionNow(s.Context(), s.app(), v1.ConditionReady)
	if err != nil {
		return err
	}
	if condition.Status != metav1.ConditionTrue {
		return fmt.Errorf("Ready is %s %s: %s", condition.Status, condition.Reason, condition.Message)
	}
	return nil
}
