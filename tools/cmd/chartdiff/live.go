package main

import (
	"context"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/pod-security-admission/api"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/watch"
)

// live finds all resources in the current cluster. It reads only.
func live(ctx context.Context, stderr io.Writer, before, after *charts) (*findings, error) {
	settings, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster: set KUBECONFIG: %w", err)
	}
	reader, err := client.New(settings, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the cluster: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(settings)
	if err != nil {
		return nil, err
	}
	found := &findings{subjects: map[schema.GroupVersionKind][]subject{}}
	capabilities := &watch.Discovered{Discovery: discoverer, Clock: clock.RealClock{}}
	if found.capabilities, _, err = capabilities.Get(ctx); err != nil {
		return nil, err
	}
	levels, err := enforced(ctx, reader)
	if apierrors.IsForbidden(err) {
		_, _ = fmt.Fprintln(stderr, "the Pod Security levels of namespaces are not considered:", err)
	} else if err != nil {
		return nil, err
	}
	scoped := func(kind schema.GroupVersionKind) bool {
		mapping, err := reader.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
	}
	for _, kind := range kinds(before, after) {
		serves := after
		if after.renderers[kind] == nil {
			serves = before
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := reader.List(ctx, list, client.MatchingLabelsSelector{Selector: serves.selectors[kind]}); meta.IsNoMatchError(err) {
			continue // nobody can have made one
		} else if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			if item.GetDeletionTimestamp() == nil {
				found.subjects[kind] = append(found.subjects[kind], subject{
					name: item.GetNamespace() + "/" + item.GetName(), resource: item,
					facts: postrender.Facts{Enforced: levels[item.GetNamespace()]},
				})
			}
		}
		for _, side := range []*charts{before, after} {
			if renderer := side.renderers[kind]; renderer != nil {
				renderer.ClusterScoped = scoped
			}
		}
	}
	return found, nil
}

// enforced returns the level of the Pod Security Standards that each namespace enforces.
func enforced(ctx context.Context, reader client.Client) (map[string]postrender.Level, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(dependency.NamespaceKind.GroupVersion().WithKind(dependency.NamespaceKind.Kind + "List"))
	if err := reader.List(ctx, list); err != nil {
		return nil, err
	}
	levels := map[string]postrender.Level{}
	for _, namespace := range list.Items {
		if level, labelled := namespace.Labels[api.EnforceLevelLabel]; labelled {
			levels[namespace.Name], _ = api.ParseLevel(level) // as the API server does, the strictest where it cannot be read
		}
	}
	return levels, nil
}
