package model

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// informers are the caches of a process: each kind is as far as it was told of the server's log.
type informers struct {
	cache.Cache
	// store is what they show, and told how much of the log each kind was told.
	store map[kube.Key]*unstructured.Unstructured
	told  map[string]int
}

// IndexField implements cache.Cache. The index is made when it is asked for.
func (i *informers) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// List implements cache.Cache for the lists that snapshots are made of.
func (i *informers) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	opts := (&client.ListOptions{}).ApplyOptions(options)
	owner, indexed := opts.FieldSelector.RequiresExactMatch("metadata.controller")
	if !indexed {
		return fmt.Errorf("the operator lists %T in full", list)
	}
	for _, key := range sorted(i.store) {
		object := i.store[key]
		if controller := metav1.GetControllerOfNoCopy(object); controller == nil || string(controller.UID) != owner {
			continue
		}
		switch list := list.(type) {
		case *corev1.ConfigMapList:
			if key.Kind == "ConfigMap" {
				item := corev1.ConfigMap{}
				if err := fill(&item, object); err != nil {
					return err
				}
				item.SetGroupVersionKind(object.GroupVersionKind())
				list.Items = append(list.Items, item)
			}
		case *metav1.PartialObjectMetadataList:
			if key.Kind == kube.SecretKind.Kind {
				item := metav1.PartialObjectMetadata{}
				if err := fill(&item, object); err != nil {
					return err
				}
				item.SetGroupVersionKind(kube.SecretKind)
				list.Items = append(list.Items, item)
			}
		default:
			return fmt.Errorf("the operator lists %T", list)
		}
	}
	return nil
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
	return object.GetKind() == v1.Kind || object.GetLabels()[v1.LabelManaged] == "true"
}
