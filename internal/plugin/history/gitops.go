package history

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// owners are the labels and annotations by which tools recognize their resources. The value of the first one present
// names the tool's object.
var owners = []struct{ key, tool string }{
	{"argocd.argoproj.io/tracking-id", "Argo CD application"},
	{"argocd.argoproj.io/instance", "Argo CD application"},
	{"kustomize.toolkit.fluxcd.io/name", "Flux Kustomization"},
	{"helm.toolkit.fluxcd.io/name", "Flux HelmRelease"},
}

// OwnerOf names the tool that keeps a resource in sync with a source, as in `Argo CD application "shop"`; empty if no
// label or annotation shows one.
func OwnerOf(resource *unstructured.Unstructured) string {
	for _, owner := range owners {
		for _, entries := range []map[string]string{resource.GetAnnotations(), resource.GetLabels()} {
			if name := entries[owner.key]; name != "" {
				name, _, _ = strings.Cut(name, ":") // a tracking ID continues with the object's
				return owner.tool + ` "` + name + `"`
			}
		}
	}
	return ""
}

// appliedBy are further labels and annotations that come from a cluster rather than from a source.
var appliedBy = []string{
	"kubectl.kubernetes.io/last-applied-configuration",
	"kustomize.toolkit.fluxcd.io/namespace", "helm.toolkit.fluxcd.io/namespace",
}

// SourceOf returns a resource as users write it, without additions of a cluster or a tool.
func SourceOf(resource *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"spec": resource.Object["spec"]}}
	out.SetAPIVersion(resource.GetAPIVersion())
	out.SetKind(resource.GetKind())
	out.SetName(resource.GetName())
	out.SetNamespace(resource.GetNamespace())
	if labels := written(resource.GetLabels()); len(labels) > 0 {
		out.SetLabels(labels)
	}
	if annotations := written(resource.GetAnnotations()); len(annotations) > 0 {
		out.SetAnnotations(annotations)
	}
	return out
}

// written returns the labels or annotations that users wrote.
func written(entries map[string]string) map[string]string {
	kept := maps.Clone(entries)
	for _, owner := range owners {
		delete(kept, owner.key)
	}
	for _, key := range appliedBy {
		delete(kept, key)
	}
	return kept
}
