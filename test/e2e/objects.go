package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
)

// objects are objects of a cluster, each by its kind, namespace and name.
type objects map[string]bool

// everything returns all objects of the cluster except those that come and go on their own.
func (s *suite) everything(ctx context.Context) (objects, error) {
	return s.list(ctx, metav1.NamespaceAll)
}

// list returns the objects of a namespace, or of the whole cluster.
func (s *suite) list(ctx context.Context, namespace string) (objects, error) {
	finder, err := discovery.NewDiscoveryClientForConfig(s.cluster.config)
	if err != nil {
		return nil, err
	}
	reader, err := metadata.NewForConfig(s.cluster.config)
	if err != nil {
		return nil, err
	}
	lists, err := finder.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	found := objects{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if transient(r) || namespace != metav1.NamespaceAll && !r.Namespaced {
				continue
			}
			items, err := reader.Resource(version.WithResource(r.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("cannot list %s: %w", r.Name, err)
			}
			for _, item := range items.Items {
				if !strings.HasPrefix(item.Namespace, "kube-") {
					found[strings.Join([]string{r.Kind, item.Namespace, item.Name}, " ")] = true
				}
			}
		}
	}
	return found, nil
}

// transient reports whether objects of a kind come and go on their own, or cannot be listed.
func transient(r metav1.APIResource) bool {
	return !slices.Contains(r.Verbs, "list") ||
		slices.Contains([]string{"Event", "Lease", "ComponentStatus", "PodMetrics", "NodeMetrics"}, r.Kind)
}

// and returns these objects and more.
func (o objects) and(more ...string) objects {
	all := maps.Clone(o)
	for _, object := range more {
		all[object] = true
	}
	return all
}

// nothingBut returns an error that names the objects which are not among the others.
func (o objects) nothingBut(others objects) error {
	var left []string
	for object := range o {
		if !others[object] {
			left = append(left, object)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return errors.New("left: " + strings.Join(left, ", "))
}
