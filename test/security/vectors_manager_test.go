//go:build cluster

package security

import (
	"encoding/json"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// writesWorkloads are the rights of a tenant with the role edit on the rendered objects.
var writesWorkloads = []rbacv1.PolicyRule{
	{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"*"}},
	{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"ingresses"}, Verbs: []string{"*"}},
}

// Managed fields say who wrote a field. Every writer can put any name there, or none.
var _ = register(vectors{
	"the image of a Deployment is changed in the operator's name": forges(`{}`,
		deployment(inOperatorsName(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil:1" }),
			func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.Containers[0].Image == "evil:1" })),
	"a container is added to a Deployment in the operator's name": forges(`{}`,
		deployment(inOperatorsName(addsContainer), hasContainer)),
	"a container is added to a Deployment in nobody's name": forges(`{}`,
		deployment(inNobodysName(addsContainer), hasContainer)),
	"pods of a Deployment get the node's network in nobody's name": forges(`{}`,
		deployment(inNobodysName(func(d *appsv1.Deployment) { d.Spec.Template.Spec.HostNetwork = true }),
			func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.HostNetwork })),
	"the host of an Ingress is changed in the operator's name": forges(
		`{ports: [{port: 80}], ingress: {hosts: [{host: NAMESPACE.example.com}]}}`,
		forgery{
			writes: inOperatorsName(func(i *networkingv1.Ingress) { i.Spec.Rules[0].Host = "evil.example.com" }),
			wrong: func(s *scene) error {
				return is("app", func(i *networkingv1.Ingress) bool { return i.Spec.Rules[0].Host == "evil.example.com" })(s)
			},
		}),
})

func addsContainer(d *appsv1.Deployment) {
	pod := &d.Spec.Template.Spec
	pod.Containers = append(pod.Containers, corev1.Container{Name: "evil", Image: "evil:1"})
}

func hasContainer(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "evil" })
}

// forgery is an edit of a rendered object whose managed fields are wrong.
type forgery struct {
	writes func(*scene) error
	// wrong returns nil while the object is as the tenant wants it.
	wrong func(*scene) error
}

func deployment(writes func(*scene) error, wrong func(*appsv1.Deployment) bool) forgery {
	return forgery{writes: writes, wrong: is("app", wrong)}
}

// forges is a vector that changes a rendered object. The change stays only while the AppService is paused.
func forges(spec string, f forgery) vector {
	return vector{
		may: writesWorkloads,
		does: func(s *scene) error {
			s.begins(spec)
			if s.off {
				if err := s.paused(); err != nil {
					return err
				}
			}
			return f.writes(s)
		},
		seen: func(s *scene) error {
			if f.wrong(s) == nil {
				return errors.New("it is still wrong")
			}
			return nil
		},
		harm:  f.wrong,
		guard: "what differs is compared with what admission makes of the operator's own write, whoever is named as the writer",
	}
}

// inOperatorsName has the tenant apply a rendered object with a change, as the operator's field manager.
func inOperatorsName[T any, P interface {
	*T
	client.Object
}](change func(P)) func(*scene) error {
	return func(s *scene) error {
		live := P(new(T))
		if err := s.tenant.Get(s.Context(), client.ObjectKeyFromObject(s.app()), live); err != nil {
			return err
		}
		change(live)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
		if err != nil {
			return err
		}
		applied := &unstructured.Unstructured{Object: content}
		applied.SetGroupVersionKind(kindOf(live))
		for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(content, "metadata", field)
		}
		unstructured.RemoveNestedField(content, "status")
		return s.tenant.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(kube.FieldManager), client.ForceOwnership)
	}
}

func kindOf(object client.Object) schema.GroupVersionKind {
	kinds, _, err := cluster.Client.Scheme().ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	return kinds[0]
}

// inNobodysName has the tenant change a Deployment while its AppService is paused, and then restored the managed
// fields that it had: the operator seems to be its only writer.
func inNobodysName(change func(*appsv1.Deployment)) func(*scene) error {
	return func(s *scene) error {
		live := &appsv1.Deployment{}
		if err := s.tenant.Get(s.Context(), client.ObjectKeyFromObject(s.app()), live); err != nil {
			return err
		}
		if err := s.paused(); err != nil {
			return err
		}
		before := live.ManagedFields
		change(live)
		if err := s.tenant.Update(s.Context(), live); err != nil {
			return err
		}
		fields, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/metadata/managedFields", "value": before}})
		if err != nil {
			return err
		}
		if err := s.tenant.Patch(s.Context(), live, client.RawPatch("application/json-patch+json", fields)); err != nil || s.off {
			return err
		}
		return changes(`spec: {paused: false}`)(s)
	}
}

// paused has the tenant pause AppService app, and waits until it is.
func (s *scene) paused() error {
	s.Helper()
	if err := changes(`spec: {paused: true}`)(s); err != nil {
		return err
	}
	cluster.Condition(s.T, s.app(), v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
	return nil
}
