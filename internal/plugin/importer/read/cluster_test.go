package read

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestWorkloadReadsWhatIsAround: kinds that the cluster lacks have no objects, and those that the user may not see are named.
func TestWorkloadReadsWhatIsAround(t *testing.T) {
	t.Parallel()
	objects := parsed(t, "../testdata/manifests/odd-network.yaml")
	var known []client.Object
	for _, object := range objects {
		if clientgoscheme.Scheme.Recognizes(object.GroupVersionKind()) {
			object.SetNamespace("shop")
			known = append(known, object)
		}
	}
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(known...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			kind := list.GetObjectKind().GroupVersionKind()
			switch {
			case kind.Kind == "NetworkPolicyList":
				return apierrors.NewForbidden(schema.GroupResource{Resource: "networkpolicies"}, "", nil)
			case !clientgoscheme.Scheme.Recognizes(kind):
				return &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
	found, unseen, err := FromCluster(t.Context(), c, deployments, client.ObjectKey{Namespace: "shop", Name: "web"})
	require.NoError(t, err)
	var kinds []string
	for _, object := range found {
		kinds = append(kinds, Describe(object))
	}
	want := []string{"Deployment web", "Service web", "Ingress web", "Ingress web-internal", "HorizontalPodAutoscaler web"}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
	if len(unseen) != 1 || unseen[0].Object != "NetworkPolicy" {
		t.Errorf("got notes %v, want one of NetworkPolicies", unseen)
	}
	if _, _, err := FromCluster(t.Context(), c, deployments, client.ObjectKey{Namespace: "shop", Name: "none"}); !apierrors.IsNotFound(err) {
		t.Errorf("got error %v, want that there is no such Deployment", err)
	}
}

func TestReleaseReadsTheNewestRecord(t *testing.T) {
	t.Parallel()
	record := &corev1.Secret{}
	for _, object := range parsed(t, "../../../../test/cli/testdata/cluster/import.yaml") {
		if object.GetKind() == "Secret" {
			payload, _, _ := unstructured.NestedString(object.Object, "stringData", "release")
			record.ObjectMeta = metav1.ObjectMeta{Name: object.GetName(), Namespace: "shop", Labels: object.GetLabels()}
			record.Type, record.Data = releaseKind, map[string][]byte{"release": []byte(payload)}
		}
	}
	older := record.DeepCopy()
	older.Name, older.Labels["version"], older.Data = "older", "0", nil
	other := record.DeepCopy()
	other.Name, other.Labels["version"], other.Type, other.Data = "other", "9", "Opaque", nil
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(record, older, other).Build()
	objects, err := FromRelease(t.Context(), c, client.ObjectKey{Namespace: "shop", Name: "legacy"})
	require.NoError(t, err)
	if len(objects) != 2 || Describe(objects[0]) != "Deployment legacy" || objects[0].GetNamespace() != "shop" {
		t.Errorf("got %v, want the Deployment and the Service of the record, in their namespace", objects)
	}
	if _, err := FromRelease(t.Context(), c, client.ObjectKey{Namespace: "shop", Name: "none"}); err == nil || !strings.Contains(err.Error(), "no record of a Helm release \"none\"") {
		t.Errorf("got error %v, want that there is no record", err)
	}
}

// The hooks of a release are in its record, apart from its manifest.
func TestReleaseReadsHooks(t *testing.T) {
	t.Parallel()
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n"
	const hook = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: shop-migrate, annotations: {helm.sh/hook: pre-upgrade}}\n"
	var payload bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &payload)
	packer := gzip.NewWriter(encoder)
	require.NoError(t, json.NewEncoder(packer).Encode(map[string]any{"manifest": manifest, "hooks": []any{map[string]any{"manifest": hook}}}))
	require.NoError(t, errors.Join(packer.Close(), encoder.Close()))
	record := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "sh.helm.release.v1.shop.v1", Namespace: "shop", Labels: map[string]string{"owner": "helm", "name": "shop", "version": "1"}},
		Type:       releaseKind, Data: map[string][]byte{"release": payload.Bytes()},
	}
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(record).Build()
	objects, err := FromRelease(t.Context(), c, client.ObjectKey{Namespace: "shop", Name: "shop"})
	require.NoError(t, err)
	require.Len(t, objects, 2)
	require.Equal(t, "Job shop-migrate", Describe(objects[1]))
	require.Equal(t, "shop", objects[1].GetNamespace())
}

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// parsed reads the objects of a file.
func parsed(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	list, err := FromManifest(text, "")
	require.NoError(t, err)
	return list
}
