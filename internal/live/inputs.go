package live

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/jobs"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/status"
)

// Render renders a resource as the operator does, with everything that it depends on in the cluster. Content is what its release was
// rendered with: its version is kept for as long as the content that pods refer to is the same.
func (c *Cluster) Render(ctx context.Context, renderer *render.Renderer, resource *unstructured.Unstructured, content dependency.Content) (*render.Result, error) {
	c.Scope(renderer)
	said, err := c.Defaults(ctx, resource)
	if err != nil {
		return nil, err
	}
	in := render.Input{Resource: resource, Defaults: said, Capabilities: c.Capabilities}
	return renderer.Predict(ctx, in, func(ctx context.Context, draft *render.Draft) (postrender.Facts, error) {
		return c.facts(ctx, resource, draft, content)
	})
}

// Defaults returns those of the namespace of a resource.
func (c *Cluster) Defaults(ctx context.Context, resource *unstructured.Unstructured) (defaults.Text, error) {
	config := &corev1.ConfigMap{}
	err := c.reader.Get(ctx, client.ObjectKey{Namespace: resource.GetNamespace(), Name: defaults.Name}, config)
	if _, err := c.unless(client.IgnoreNotFound(err), "the defaults of the namespace are not considered"); err != nil {
		return defaults.Text{}, err
	}
	return defaults.Of(config, resource.GetKind()), nil
}

// facts returns what hooks may know about the cluster.
func (c *Cluster) facts(ctx context.Context, resource *unstructured.Unstructured, draft *render.Draft, recorded dependency.Content) (postrender.Facts, error) {
	namespace := resource.GetNamespace()
	labels, err := c.dependencies.Labels(ctx, namespace)
	if _, err = c.unless(client.IgnoreNotFound(err), "the Pod Security levels of namespaces are not considered"); err != nil {
		return postrender.Facts{}, err
	}
	facts := postrender.FactsOf(namespace, labels, c.Policy)
	whole := true
	err = facts.Find(draft.References, func(mention dependency.Reference) (dependency.State, bool, error) {
		state, err := c.dependencies.Look(ctx, namespace, mention.Object, false)
		forbidden, err := c.unless(err, "what pods refer to is not considered as far as it may not be read")
		whole = whole && (!forbidden || !mention.Content)
		return state, !forbidden, err
	})
	if err != nil {
		return facts, err
	}
	facts.Content = recorded.Version
	if whole {
		facts.Content = dependency.ContentOf(draft.References, facts.There).After(recorded).Version
	}
	if noted, err := status.Of(resource); err == nil {
		facts.Jobs = jobs.Names(draft.Runs, noted.Runs)
	}
	facts.Selectors, err = c.selectors(ctx, resource, draft.Selectors())
	return facts, err
}

// selectors returns those of live workloads that are the resource's, or about to become that: they cannot change.
func (c *Cluster) selectors(ctx context.Context, resource *unstructured.Unstructured, rendered map[kube.Key]map[string]string) (map[kube.Key]map[string]string, error) {
	kept := map[kube.Key]map[string]string{}
	for key := range rendered {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(key.WithVersion(appsv1.SchemeGroupVersion.Version)) // workloads have no other
		err := c.reader.Get(ctx, client.ObjectKey{Namespace: resource.GetNamespace(), Name: key.Name}, live)
		if apierrors.IsNotFound(err) {
			continue
		}
		forbidden, err := c.unless(err, "selectors of workloads that were adopted are not considered")
		if err != nil {
			return nil, err
		}
		if selector := postrender.SelectorOf(live); !forbidden && selector != nil && release.Keeps(resource, live) {
			kept[key] = selector
		}
	}
	return kept, nil
}

// labels returns those of all namespaces.
func (c *Cluster) labels(ctx context.Context) (map[string]map[string]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(dependency.NamespaceKind.GroupVersion().WithKind(dependency.NamespaceKind.Kind + "List"))
	if forbidden, err := c.unless(c.reader.List(ctx, list), "the Pod Security levels of namespaces are not considered"); forbidden || err != nil {
		return nil, err
	}
	labels := map[string]map[string]string{}
	for _, namespace := range list.Items {
		labels[namespace.Name] = namespace.Labels
	}
	return labels, nil
}
