//go:build cluster

package security

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// installAdmission installs the policies of config/admission until the test is over. Namespaces in which guards are off are excluded from their
// bindings.
func installAdmission(t *testing.T) {
	t.Helper()
	folder := filepath.Join(files.Root(t), "config/admission")
	var kustomization struct{ Resources []string }
	require.NoError(t, yaml.Unmarshal(files.Text(t, filepath.Join(folder, "kustomization.yaml")), &kustomization))
	for _, file := range kustomization.Resources {
		for _, object := range files.Objects(t, filepath.Join(folder, file)) {
			install(t, object)
		}
	}
	isEnforced(t)
}

// isEnforced waits until the last policy is in effect: the API server activates new policies and bindings all at once.
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
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding))
		leaveOut(binding)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(binding)
		require.NoError(t, err)
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

// leaveOut excludes namespaces in which guards are off from a binding.
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
