package controller

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
)

// keptSelectors returns the selectors of live workloads that differ from the rendered ones: those of adopted workloads.
// They are stored nowhere but in the live objects.
func (r *Reconciler) keptSelectors(ctx context.Context, s *scope, observed *livestate.Snapshot, known *rendered,
	selectors map[kube.Key]map[string]string) (map[kube.Key]map[string]string, error) {
	var out map[kube.Key]map[string]string
	for key, rendered := range selectors {
		live := observed.Objects[key]
		if live == nil {
			live = r.others(ctx, s, key)
		}
		if live == nil {
			continue
		}
		selector, err := r.selectorOf(ctx, known, key, live)
		if err != nil {
			return nil, err
		}
		if selector == nil || maps.Equal(selector, rendered) {
			continue
		}
		if out == nil {
			out = map[kube.Key]map[string]string{}
		}
		out[key] = selector
	}
	return out, nil
}

// others returns the object of another owner that has the name of a rendered workload, if it is about to be taken over:
// the resource requests adoption, or the caches hold one that has our label and no controller.
func (r *Reconciler) others(ctx context.Context, s *scope, key kube.Key) client.Object {
	name := client.ObjectKey{Namespace: s.resource.GetNamespace(), Name: key.Name}
	kind := key.WithVersion(appsv1.SchemeGroupVersion.Version) // workloads have no other
	if release.AdoptionOf(s.resource) == nil {
		if err := r.Client.Get(ctx, name, kube.Representation(kind)); err != nil {
			return nil
		}
	}
	object := kube.Metadata(kind)
	object.Namespace, object.Name = name.Namespace, name.Name
	return object
}

// selectorOf returns the labels by which a live workload selects its pods; nil if there are none.
func (r *Reconciler) selectorOf(ctx context.Context, known *rendered, key kube.Key,
	live client.Object) (map[string]string, error) {
	if selector, is := selectorOfTyped(live); is {
		return selector, nil
	}
	content, full := kube.Content(live)
	if !full {
		if known != nil && known.facts.Selectors[key] != nil {
			return known.facts.Selectors[key], nil
		}
		read := kube.Object(live.GetObjectKind().GroupVersionKind())
		err := r.Live.Get(ctx, client.ObjectKeyFromObject(live), read)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", key, err)
		}
		content = read.Object
	}
	// its kind was rendered as one that has a selector
	labels, _, _ := unstructured.NestedStringMap(content, "spec", "selector", "matchLabels")
	return labels, nil
}

// selectorOfTyped is selectorOf for a typed workload from an informer; false for anything else. It is called in each
// reconcile.
func selectorOfTyped(live client.Object) (map[string]string, bool) {
	var selector *metav1.LabelSelector
	switch typed := live.(type) {
	case *appsv1.Deployment:
		selector = typed.Spec.Selector
	case *appsv1.StatefulSet:
		selector = typed.Spec.Selector
	}
	if selector == nil || kube.IsOutline(live) {
		return nil, false
	}
	return selector.MatchLabels, true
}
