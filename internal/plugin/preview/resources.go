package preview

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// Resource returns a resource; the error says if it does not exist.
func (c *Cluster) Resource(ctx context.Context, kind schema.GroupVersionKind,
	name types.NamespacedName) (*unstructured.Unstructured, error) {
	resource := kube.Object(kind)
	err := c.reader.Get(ctx, name, resource)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("the cluster does not serve %s: install the CRDs of the operator", kind)
	}
	return resource, err
}

// Subjects lists the resources of a kind that one of two versions of the charts serves, except for those being deleted.
// It makes as many requests for a thousand of them as for one, so the objects that pods refer to are unknown.
func (c *Cluster) Subjects(ctx context.Context, kind schema.GroupVersionKind, before,
	after *Charts) ([]Subject, error) {
	// resources of a kind that is no longer served are compared with nothing
	served := after.Selectors[kind]
	if served == nil {
		served = before.Selectors[kind]
	}
	for _, renderer := range []*render.Renderer{before.Renderers[kind], after.Renderers[kind]} {
		if renderer != nil {
			c.scope(renderer)
		}
	}
	list := kube.List(kind)
	err := c.reader.List(ctx, list, client.MatchingLabelsSelector{Selector: served})
	if meta.IsNoMatchError(err) {
		return nil, nil // none can exist
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	// without resources, rights on namespaces and ConfigMaps are not needed
	labels, err := c.labels(ctx)
	if err != nil {
		return nil, err
	}
	configs, err := c.defaults(ctx)
	if err != nil {
		return nil, err
	}
	var subjects []Subject
	for i := range list.Items {
		item := &list.Items[i]
		if item.GetDeletionTimestamp() != nil {
			continue
		}
		subject := Subject{
			Name: item.GetNamespace() + "/" + item.GetName(), Resource: item,
			Facts: policy.FactsOf(item.GetNamespace(), labels[item.GetNamespace()], c.Policy),
		}
		if config := configs[item.GetNamespace()]; config != nil {
			subject.Defaults = defaults.Of(config, kind.Kind)
		}
		subjects = append(subjects, subject)
	}
	return subjects, nil
}

// defaults returns the defaults of namespaces.
func (c *Cluster) defaults(ctx context.Context) (map[string]*corev1.ConfigMap, error) {
	list := &corev1.ConfigMapList{}
	err := c.reader.List(ctx, list, client.MatchingFields{"metadata.name": defaults.Name})
	if forbidden, err := c.tolerate(err, "the defaults of namespaces are not considered"); forbidden || err != nil {
		return nil, err
	}
	found := map[string]*corev1.ConfigMap{}
	for i := range list.Items {
		found[list.Items[i].Namespace] = &list.Items[i]
	}
	return found, nil
}

// labels returns those of all namespaces.
func (c *Cluster) labels(ctx context.Context) (map[string]map[string]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(reference.NamespaceKind.GroupVersion().WithKind(reference.NamespaceKind.Kind + "List"))
	if forbidden, err := c.tolerate(c.reader.List(ctx, list),
		"the Pod Security levels of namespaces are not considered"); forbidden || err != nil {
		return nil, err
	}
	labels := map[string]map[string]string{}
	for _, namespace := range list.Items {
		labels[namespace.Name] = namespace.Labels
	}
	return labels, nil
}
