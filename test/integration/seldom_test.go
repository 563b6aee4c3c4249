//go:build cluster

package integration

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The CronJob of an AppJob is repaired like the objects of an AppService.
func TestTheCronJobOfAnAppJobReturns(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	planned := appJob(namespace, map[string]any{"image": "report:1", "schedule": "0 3 1 1 *"})
	cluster.Create(t, planned)
	becomesReady(t, planned)
	list := &batchv1.CronJobList{}
	before := onlyOf(t, planned, list)
	cluster.Delete(t, before, client.PropagationPolicy(metav1.DeletePropagationBackground))
	harness.Eventually(t, "it comes back", func() error {
		for _, now := range itemsOf(t, planned, list) {
			if now.GetUID() != before.GetUID() && now.GetDeletionTimestamp() == nil {
				return nil
			}
		}
		return errStillThere
	})
	becomesReady(t, planned)
}

// A Job that a deleted AppJob left is adopted by the next one of that name, and does not run again.
func TestAJobThatWasLeftIsTakenBack(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	first := appJob(namespace, map[string]any{"image": "report:1"})
	cluster.Create(t, first)
	becomesReady(t, first)
	left := onlyOf(t, first, &batchv1.JobList{})
	cluster.Delete(t, first, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "the AppJob is gone", func() error { return gone(t, namespace, first.GetName(), first) })
	second := appJob(namespace, map[string]any{"image": "report:1"})
	second.SetAnnotations(map[string]string{v1.AnnotationAdopt: "true"})
	cluster.Create(t, second)
	becomesReady(t, second)
	if again := onlyOf(t, second, &batchv1.JobList{}); again.GetUID() != left.GetUID() {
		t.Error("it is another Job")
	}
}

func onlyOf(t *testing.T, resource client.Object, list client.ObjectList) client.Object {
	t.Helper()
	items := itemsOf(t, resource, list)
	if len(items) != 1 {
		t.Fatalf("%s has %d objects, want one", resource.GetName(), len(items))
	}
	return items[0]
}

// itemsOf are the objects of a list that a resource controls.
func itemsOf(t *testing.T, resource client.Object, list client.ObjectList) []client.Object {
	t.Helper()
	cluster.List(t, list, client.InNamespace(resource.GetNamespace()))
	var all, own []client.Object
	switch list := list.(type) {
	case *batchv1.JobList:
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	case *batchv1.CronJobList:
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	}
	for _, object := range all {
		if metav1.IsControlledBy(object, resource) {
			own = append(own, object)
		}
	}
	return own
}

// A record with a status other than deployed is replaced: an interrupted operation of an earlier operator leaves one.
func TestARecordThatIsNotDeployedIsReplaced(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sh.helm.release.v1.web.v1"}}
	pending := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"status":"pending-install"}}}`))
	cluster.Patch(t, record, pending)
	cluster.Becomes(t, "the record says deployed", record, func() error { return want("status", record.Labels["status"], "deployed") })
	cluster.Ready(t, app)
}

// While the certificate of an Ingress is missing, the status says why, with cert-manager's message.
func TestACertificateThatCannotBeIssued(t *testing.T) {
	t.Parallel()
	crd := harness.AnyCRD(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}, "certificates")
	cluster.Install(t, crd)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), crd) })
	namespace := cluster.Namespace(t)
	secret := harness.NobodysCertificate + "-certificate"
	certificate := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
		"metadata": map[string]any{"namespace": namespace, "name": "web"},
		"spec":     map[string]any{"secretName": secret},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Issuing", "status": "False", "reason": "Failed",
			"message": "The certificate request has failed to complete and will be retried: no such account",
		}}},
	}}
	harness.Eventually(t, "the Certificate is made", func() error { return cluster.Client.Create(t.Context(), certificate) })
	cluster.Manager(t, namespace)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	host := namespace + ".example.com"
	app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: host}}, TLS: []v1.IngressTLS{{Hosts: []string{host}, SecretName: secret}}}
	cluster.Create(t, app)
	cluster.Becomes(t, "the status says what cert-manager says", app, func() error {
		for _, problem := range app.Status.Problems {
			if problem.Reason == v1.ReasonCertificateMissing && problem.Source == "Certificate web" {
				return nil
			}
		}
		return fmt.Errorf("the problems are %v", app.Status.Problems)
	})
}
