//go:build cluster

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

var resourceZero = resource.MustParse("0")

func resources(request, limit string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)},
	}
}

func values(envs []corev1.EnvVar) map[string]string {
	out := map[string]string{}
	for _, env := range envs {
		out[env.Name] = env.Value
	}
	return out
}

func length(list client.ObjectList) int { return meta.LenList(list) }

// monitorCRD is a CRD of the kind ServiceMonitor that accepts any content.
func monitorCRD() *apiextensionsv1.CustomResourceDefinition {
	return harness.AnyCRD(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}, "servicemonitors")
}

func newMonitor(namespace, name string) *unstructured.Unstructured {
	monitor := &unstructured.Unstructured{}
	monitor.SetAPIVersion("monitoring.coreos.com/v1")
	monitor.SetKind("ServiceMonitor")
	monitor.SetNamespace(namespace)
	monitor.SetName(name)
	return monitor
}

// present returns an error while an object does not exist.
func present(t *testing.T, object client.Object) error {
	t.Helper()
	return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
}
