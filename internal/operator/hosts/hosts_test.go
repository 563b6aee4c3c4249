package hosts

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	start      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func named(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// newApp is an AppService made some seconds after the start.
func newApp(namespace, name string, seconds int) *unstructured.Unstructured {
	resource := &unstructured.Unstructured{Object: map[string]any{}}
	resource.SetGroupVersionKind(appService)
	resource.SetNamespace(namespace)
	resource.SetName(name)
	resource.SetUID(types.UID(namespace + "/" + name))
	resource.SetCreationTimestamp(metav1.NewTime(start.Add(time.Duration(seconds) * time.Second)))
	return resource
}
