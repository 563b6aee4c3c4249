package model

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// informers are the caches of a process: each kind shows the server's log up to where it was delivered.
type informers struct {
	// store is what they show; told is how much of the log was delivered, by kind.
	store map[kube.Key]*unstructured.Unstructured
	told  map[string]int
}

// AddIndex implements livestate.Index. The index is built on request.
func (i *informers) AddIndex(schema.GroupVersionKind, string, func(client.Object) []string) error {
	return nil
}

// ByIndex implements livestate.Index for the only index, that of owners.
func (i *informers) ByIndex(kind schema.GroupVersionKind, index, value string) ([]client.Object, error) {
	if index != "metadata.controller" {
		return nil, fmt.Errorf("the operator asks for %s by %s", kind.Kind, index)
	}
	var list []client.Object
	for _, key := range sorted(i.store) {
		object := i.store[key]
		if kind.GroupKind() != key.GroupKind || belongsTo(object) != value {
			continue
		}
		item := kube.Representation(kind)
		if err := fill(item, object); err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// belongsTo returns the value of the index for an object.
func belongsTo(object *unstructured.Unstructured) string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return object.GetNamespace() + "/" + string(controller.UID)
	}
	return object.GetNamespace() + "/retained/" + kube.RetainedFor(object)
}

func sorted[V any](objects map[kube.Key]V) []kube.Key {
	keys := make([]kube.Key, 0, len(objects))
	for key := range objects {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b kube.Key) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return keys
}

// shown reports whether the caches of the operator show an object: those of objects select by a label.
func shown(object *unstructured.Unstructured) bool {
	return isResource(object) || object.GetLabels()[v1.LabelManaged] == "true"
}
