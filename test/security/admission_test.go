package security

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// installAdmission installs the policies of config/admission until the test is over. Namespaces in which guards are off are left out of
// their bindings.
func installAdmission(t *testing.T) {
	t.Helper()
	policies, err := filepath.Glob(filepath.Join(files.Root(t), "config/admission/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range policies {
		for _, object := range files.Objects(t, file) {
			if object.GroupVersionKind().Group != admissionv1.GroupName {
				continue
			}
			install(t, object)
		}
	}
	isEnforced(t)
}

// isEnforced waits until what was installed last is: the API server takes new policies and bindings into use all at once.
func isEnforced(t *testing.T) {
	t.Helper()
	s := &scene{T: t, namespace: newNamespace(t, "on-enforced-", nil)}
	s.tenant = newTenant(t, s.namespace, nil)
	harness.Eventually(t, "policies are enforced", func() error {
		err := s.tenant.Create(t.Context(), s.appService(s.namespace, "app", `{ports: [{port: 80}], route: {parentRefs: [{name: a}]}}`), client.DryRunAll)
		if apierrors.IsForbidden(err) {
			return nil
		}
		return fmt.Errorf("who may not make routes asks for one, and gets: %w", err)
	})
}

// install creates a policy or a binding, and waits until the API server has compiled a policy.
func install(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding); err != nil {
			t.Fatal(err)
		}
		leaveOut(binding)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(binding)
		if err != nil {
			t.Fatal(err)
		}
		object.Object = content
	}
	cluster.Create(t, object)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), object) })
	if object.GetKind() != "ValidatingAdmissionPolicy" {
		return
	}
	harness.Eventually(t, object.GetName()+" is compiled", func() error {
		policy := &admissionv1.ValidatingAdmissionPolicy{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), policy); err != nil {
			return err
		}
		if policy.Status.ObservedGeneration != policy.Generation {
			return fmt.Errorf("generation %d was not looked at yet", policy.Generation)
		}
		return nil
	})
}

// leaveOut has a binding leave out namespaces in which guards are off.
func leaveOut(binding *admissionv1.ValidatingAdmissionPolicyBinding) {
	if binding.Spec.MatchResources == nil {
		binding.Spec.MatchResources = &admissionv1.MatchResources{}
	}
	match := binding.Spec.MatchResources
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	match.NamespaceSelector.MatchExpressions = append(match.NamespaceSelector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: guardsOff, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"off"}})
}
