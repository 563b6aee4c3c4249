//go:build cluster

package integration

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

const leaseTemplate = `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: {{ .Release.Name }}
`

// widgetReleased waits for a release of a Widget.
func widgetReleased(t *testing.T, widget *unstructured.Unstructured, revision int64) {
	t.Helper()
	cluster.Becomes(t, fmt.Sprintf("release %d is recorded and ready", revision), widget, func() error {
		got, _, _ := unstructured.NestedInt64(widget.Object, "status", "release", "revision")
		phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase")
		return want("revision and phase", fmt.Sprint(got, phase), fmt.Sprint(revision, "Running"))
	})
}

// Objects that a chart no longer renders are deleted, although nothing names its kind any more when the operator starts.
func TestObjectsOfAKindThatTheChartNoLongerNamesAreDeleted(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	before := maps.Clone(widgetCharts)
	before["charts/widget/templates/lease.yaml"] = leaseTemplate
	first := cluster.Unbound().Manager(t, namespace, charted(t, before, ""))
	widget := newWidget(namespace, "w", map[string]any{"message": "hello"})
	cluster.Create(t, widget)
	widgetReleased(t, widget, 1)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "w"}}
	require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	first.Stop(t)

	cluster.Patch(t, widget, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"message":"bye"}}`)))
	cluster.Unbound().Manager(t, namespace, watching(t, ""))
	widgetReleased(t, widget, 2)
	harness.Eventually(t, "the Lease is deleted", func() error {
		return gone(t, namespace, "w", &coordinationv1.Lease{})
	})
}

// The next version of a served kind changes no object: what the version before is the owner of is still the resource's.
func TestAKindGetsAnotherVersion(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	old := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"}
	crd := harness.WithStatus(harness.AnyCRD(old, "gadgets"))
	cluster.Install(t, crd)
	first := cluster.Unbound().Manager(t, namespace, serving(t, old, widgetCharts, ""))
	gadget := newWidget(namespace, "g", map[string]any{"message": "hello"})
	gadget.SetGroupVersionKind(old)
	cluster.Create(t, gadget)
	widgetReleased(t, gadget, 1)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "g-message"}}
	require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	created := config.UID
	first.Stop(t)

	cluster.Edit(t, crd, func() {
		next := crd.Spec.Versions[0]
		next.Name, crd.Spec.Versions[0].Storage = "v2", false
		crd.Spec.Versions = append(crd.Spec.Versions, next)
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	})
	newer := schema.GroupVersionKind{Group: old.Group, Version: "v2", Kind: old.Kind}
	gadget.SetGroupVersionKind(newer)
	harness.Eventually(t, "the version is served", func() error {
		return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(gadget), gadget)
	})
	cluster.Unbound().Manager(t, namespace, serving(t, newer, widgetCharts, ""))
	widgetReleased(t, gadget, 2)
	cluster.Patch(t, gadget, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"message":"bye"}}`)))
	widgetReleased(t, gadget, 3)
	require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	if config.UID != created || config.Data["message"] != "bye" {
		t.Errorf("got the ConfigMap %s with %v, want %s with the new message", config.UID, config.Data, created)
	}
}
