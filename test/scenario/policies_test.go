//go:build cluster

package scenario

import (
	"context"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var policies sync.Mutex

// ensure creates the policies once for all incidents. They apply to namespaces with a label.
func ensure(s *scene, objects []client.Object) {
	s.Helper()
	policies.Lock()
	defer policies.Unlock()
	for _, object := range objects {
		if err := cluster.Client.Create(context.WithoutCancel(s.Context()), object); err != nil && !apierrors.IsAlreadyExists(err) {
			s.Fatalf("cannot make the policy %s: %v", object.GetName(), err)
		}
	}
}

func rules(group, resource string, operations ...admissionv1.OperationType) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: operations,
		Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}}}
}

func labeled(policy string) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{policyLabel: policy}}}
}

func refusingPolicy(group, resource string) []client.Object {
	name := "refuse-" + resource
	return []client.Object{
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: rules(group, resource, admissionv1.Create),
			FailurePolicy:    ptr.To(admissionv1.Fail),
			Validations:      []admissionv1.Validation{{Expression: "false", Message: "refused by the test"}},
		}},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, MatchResources: labeled(name), ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}},
	}
}

func mutatingPolicy(name, group, resource, expression string, on ...admissionv1.OperationType) []client.Object {
	name = "mutate-" + name
	return []client.Object{
		&admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   rules(group, resource, on...),
			FailurePolicy:      ptr.To(admissionv1.Fail),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: expression},
			}},
		}},
		&admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{
			PolicyName: name, MatchResources: labeled(name),
		}},
	}
}
