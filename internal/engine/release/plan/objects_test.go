package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/kube"
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

// put sets what is at a path of map keys and list indexes; the index one past the end appends.
func put(t *testing.T, object *unstructured.Unstructured, value any, path ...any) {
	t.Helper()
	at(t, object.Object, value, path)
}

func at(t *testing.T, node, value any, path []any) any {
	t.Helper()
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		content, ok := node.(map[string]any)
		if !ok {
			content = map[string]any{}
		}
		content[step] = at(t, content[step], value, path[1:])
		return content
	case int:
		list, _ := node.([]any)
		if step == len(list) {
			list = append(list, nil)
		}
		list[step] = at(t, list[step], value, path[1:])
		return list
	}
	t.Fatalf("no path: %v", path)
	return nil
}

// without deletes the value at a path of map keys and list indexes.
func without(t *testing.T, object *unstructured.Unstructured, path ...any) {
	t.Helper()
	cut(t, object.Object, path)
}

func cut(t *testing.T, node any, path []any) any {
	t.Helper()
	switch step := path[0].(type) {
	case string:
		content := node.(map[string]any)
		if len(path) == 1 {
			delete(content, step)
		} else {
			content[step] = cut(t, content[step], path[1:])
		}
		return content
	case int:
		list := node.([]any)
		if len(path) == 1 {
			return append(append([]any{}, list[:step]...), list[step+1:]...)
		}
		list[step] = cut(t, list[step], path[1:])
		return list
	}
	t.Fatalf("no path: %v", path)
	return nil
}
