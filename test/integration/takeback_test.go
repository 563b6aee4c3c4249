//go:build cluster

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// If the API server refuses an object late, when others are written already, nothing may be left of a service that never ran.
func TestNothingStaysOfAnInstallThatIsRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec func(*v1.AppServiceSpec)
		heal func(t *testing.T, app *v1.AppService, made client.Object)
		made func(namespace string) []client.Object
		says string
	}{
		"a key that no Secret can have": {
			spec: func(s *v1.AppServiceSpec) {
				s.Envs = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "any"}, Key: "a\nb", Optional: ptr.To(true),
				}}}}
			},
			heal: mend(func(s *v1.AppServiceSpec) { s.Envs = nil }),
			says: "Deployment web",
		},
		"a mount that only the privileged may have": {
			spec: func(s *v1.AppServiceSpec) {
				s.Sidecars = []corev1.Container{{
					Name: "side", Image: "busybox", VolumeMounts: []corev1.VolumeMount{{
						Name: "data", MountPath: "/data", MountPropagation: ptr.To(corev1.MountPropagationBidirectional),
					}},
				}}
			},
			heal: mend(func(s *v1.AppServiceSpec) { s.Sidecars = nil }),
			says: "Deployment web",
		},
		"a policy refuses the last object": {
			made: func(namespace string) []client.Object { return refusing(namespace, "networking.k8s.io", "ingresses") },
			heal: takeAway,
			says: "Ingress web",
		},
		"a policy refuses what comes after a StatefulSet": {
			spec: func(s *v1.AppServiceSpec) {
				s.Persistence.PerReplica, s.Size = true, ptr.To[int32](0) // no pod creates a claim, which would stay
			},
			made: func(namespace string) []client.Object { return refusing(namespace, "networking.k8s.io", "ingresses") },
			heal: takeAway,
			says: "Ingress web",
		},
		"a quota is used up": {
			made: func(namespace string) []client.Object {
				quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"}}
				quota.Spec.Hard = corev1.ResourceList{"count/ingresses.networking.k8s.io": resource.MustParse("0")}
				return []client.Object{quota}
			},
			heal: takeAway,
			says: "exceeded quota",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
			app.Spec = harness.Seed(namespace, "web").Spec
			app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To("none")}
			app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"A": "b"}}
			app.Spec.Ingress = &v1.Ingress{ClassName: ptr.To("nginx"), Hosts: []v1.IngressHost{{Host: namespace + ".example.com"}}}
			if test.spec != nil {
				test.spec(&app.Spec)
			}
			var made client.Object
			if test.made != nil {
				for _, object := range test.made(namespace) {
					cluster.Create(t, object)
					t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), object) })
					made = object
				}
				refuses(t, app)
			}
			before := allIn(t, namespace)
			manager := cluster.Manager(t, namespace)
			cluster.Create(t, app)
			for range 2 { // the first attempt, and one of a process without memory of it
				condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInstallFailed)
				if !strings.Contains(condition.Message, test.says) {
					t.Errorf("the message does not tell the cause: %s", condition.Message)
				}
				harness.Eventually(t, "nothing stays", func() error {
					for _, object := range allIn(t, namespace) {
						if !slices.Contains(before, object) {
							return fmt.Errorf("%s is there", object)
						}
					}
					return nil
				})
				manager.Stop(t)
				manager = cluster.Manager(t, namespace)
			}
			test.heal(t, app, made)
			cluster.Ready(t, app)
		})
	}
}

// mend changes the spec.
func mend(change func(*v1.AppServiceSpec)) func(*testing.T, *v1.AppService, client.Object) {
	return func(t *testing.T, app *v1.AppService, _ client.Object) {
		t.Helper()
		cluster.Change(t, app, func(app *v1.AppService) { change(&app.Spec) })
	}
}

// takeAway removes the policy that refuses.
func takeAway(t *testing.T, _ *v1.AppService, made client.Object) {
	t.Helper()
	cluster.Delete(t, made)
}

// refusing is a policy that refuses to create objects of a kind in a namespace; the binding, which puts it into effect, is the last.
func refusing(namespace, group, resource string) []client.Object {
	return []client.Object{
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "refused by the test"}},
		}},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}},
		}},
	}
}

// refuses waits until an Ingress is refused in the namespace of an AppService.
func refuses(t *testing.T, app *v1.AppService) {
	t.Helper()
	harness.Eventually(t, "an Ingress is refused", func() error {
		if err := cluster.Client.Create(t.Context(), probe(app), client.DryRunAll); err == nil {
			return errors.New("it is taken")
		}
		return nil
	})
}

// probe is the smallest Ingress.
func probe(app *v1.AppService) client.Object {
	return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "probe"}, Spec: networkingv1.IngressSpec{
		DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
	}}
}

// allIn lists all objects of a namespace but those that other controllers create, events, and those being deleted.
func allIn(t *testing.T, namespace string) []string {
	t.Helper()
	lists, err := discovery.ServerPreferredNamespacedResources(discovery.NewDiscoveryClientForConfigOrDie(cluster.Config))
	require.NoError(t, err)
	var all []string
	for _, list := range lists {
		for _, kind := range list.APIResources {
			if !slices.Contains(kind.Verbs, "list") || kind.Kind == "Event" || kind.Kind == "AppService" || kind.Kind == "PodMetrics" {
				continue
			}
			objects := &metav1.PartialObjectMetadataList{}
			objects.APIVersion, objects.Kind = list.GroupVersion, kind.Kind+"List"
			cluster.List(t, objects, client.InNamespace(namespace))
			for _, object := range objects.Items {
				name := kind.Kind + " " + object.Name
				if name != "ConfigMap kube-root-ca.crt" && name != "ServiceAccount default" { // a moment after the namespace
					all = append(all, name)
				}
			}
		}
	}
	return all
}
