//go:build cluster

package chart

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A newer CRD allows a field that the operator does not know: it has no effect, and the resource says so while it is ready.
func TestAFieldOfANewerCRDIsToldOf(t *testing.T) {
	cluster := controlPlane(t)
	namespace := cluster.Namespace(t)
	withBackup(t, cluster)
	app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	harness.Eventually(t, "spec.backup is stored", func() error {
		given := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind,
			"metadata": map[string]any{"namespace": namespace, "name": app.Name},
			"spec":     map[string]any{"image": "nginx:1.27", "backup": map[string]any{"schedule": "@daily"}},
		}}
		if err := cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(given), client.ForceOwnership, client.FieldOwner("test")); err != nil {
			return err
		}
		if schedule, _, _ := unstructured.NestedString(given.Object, "spec", "backup", "schedule"); schedule == "" {
			return fmt.Errorf("it was dropped")
		}
		return nil
	})
	cluster.Manager(t, namespace) // not before: for a minute, a watch that is older than the schema would hand out objects without the field
	cluster.Ready(t, app)
	cluster.Becomes(t, "the problem is reported", app, func() error {
		for _, problem := range app.Status.Problems {
			if problem.Type == v1.ProblemWarning && problem.Reason == v1.ReasonFieldUnknown && problem.Source == "spec.backup" {
				return nil
			}
		}
		return fmt.Errorf("got problems %+v", app.Status.Problems)
	})
	cluster.Ready(t, app)
}

// withBackup adds a field to the CRD of AppServices that this version of the operator does not have. It affects no other test.
func withBackup(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "appservices." + v1.GroupVersion.Group}}
	cluster.Edit(t, crd, func() {
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["backup"] = apiextensionsv1.JSONSchemaProps{
			Type: "object", Description: "Backup.", Properties: map[string]apiextensionsv1.JSONSchemaProps{"schedule": {Type: "string"}},
		}
	})
}
