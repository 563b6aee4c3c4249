package release

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render"
)

// object parses an object.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	out := &unstructured.Unstructured{}
	require.NoError(t, out.UnmarshalJSON(data))
	return out
}

// owner is the resource that the objects of these tests belong to.
func owner(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: app.example.com/v1, kind: AppService, metadata: {name: web, namespace: demo, uid: owner}}`)
}

// owned is an object that the owner controls. The stamp says which version of it was rendered.
func owned(t *testing.T, kind, name, stamp string) *unstructured.Unstructured {
	t.Helper()
	out := object(t, fmt.Sprintf(`{apiVersion: v1, kind: %s, metadata: {name: %s, namespace: demo, annotations: {app.example.com/rendered: %s}}}`, kind, name, stamp))
	out.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner(t), owner(t).GroupVersionKind())})
	return out
}

// desired is what objects look like that were rendered as they are.
func desired(t *testing.T, values chartutil.Values, objects ...*unstructured.Unstructured) *render.Result {
	t.Helper()
	result := &render.Result{Values: values, Objects: objects, Outline: render.Outline{Digest: "digest-of-two"}}
	for _, object := range objects {
		body, err := render.BodyOf(object)
		require.NoError(t, err)
		result.Bodies = append(result.Bodies, body)
		result.Sources = append(result.Sources, "templates/"+object.GetName()+".yaml")
	}
	return result
}

// metadata is what the caches hold of a Secret.
func metadata(secret *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: secret.GetName(), Namespace: secret.GetNamespace(), UID: secret.GetUID(), ResourceVersion: secret.GetResourceVersion(),
		Labels: secret.GetLabels(), Annotations: secret.GetAnnotations(), OwnerReferences: secret.GetOwnerReferences(),
	}}
	out.SetGroupVersionKind(kube.SecretKind)
	return out
}

// there makes the objects of a snapshot.
func there(objects ...client.Object) map[kube.Key]client.Object {
	out := map[kube.Key]client.Object{}
	for _, object := range objects {
		out[kube.KeyOf(object)] = object
	}
	return out
}

// put sets the value of a field.
func put(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	require.NoError(t, unstructured.SetNestedField(object.Object, value, path...))
}
