package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Fields of a compact resource. The API server accepts no fields with such names.
const (
	compactText   = "(text)"   // JSON of everything that is not in the resource itself
	compactSize   = "(size)"   // size of the resource as JSON in bytes
	compactBound  = "(bound)"  // of its kind, if that has one of its own
	compactAuthor = "(author)" // who changed the spec last, and when: all that is left of managed fields
)

// Compact returns a resource as the cache holds it: its metadata without what clients add for themselves and its
// status, and all else as one text, which takes a tenth of the memory of the same as maps. A resource that exceeds the
// size limit is reduced to the fields that the operator needs of any resource, so that it takes almost no memory
// however large
// it is. A compact resource is returned unchanged.
func Compact(resource *unstructured.Unstructured, bound limits.Bound) (*unstructured.Unstructured, error) {
	if _, done := resource.Object[compactText]; done {
		return resource, nil
	}
	kept, rest := map[string]any{}, map[string]any{}
	for name, value := range resource.Object {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
			kept[name] = value
		default:
			rest[name] = value
		}
	}
	text, err := textOf(rest)
	if err != nil {
		return nil, err
	}
	author := ""
	if kept["metadata"], author = written(resource); author != "" {
		kept[compactAuthor] = author
	}
	size := len(text) + weight(kept["metadata"])
	if bound.OfResource(size) != nil {
		kept["metadata"] = essentials(kept["metadata"])
		if text, err = textOf(map[string]any{"spec": standing(rest["spec"])}); err != nil {
			return nil, err
		}
	}
	kept[compactText], kept[compactSize] = text, int64(size)
	if bound > 0 {
		kept[compactBound] = int64(bound)
	}
	return &unstructured.Unstructured{Object: kept}, nil
}

// Expand returns a compact resource with all fields, and its size as JSON in bytes. The error is a limits.Error if it
// is too large: then the spec has only the fields that the operator needs of any resource. Any other resource is
// returned unchanged.
func Expand(resource *unstructured.Unstructured) (*unstructured.Unstructured, int, error) {
	text, compact := resource.Object[compactText].(string)
	if !compact {
		return resource, 0, nil
	}
	size, _ := resource.Object[compactSize].(int64)
	bound, _ := resource.Object[compactBound].(int64)
	out := maps.Clone(resource.Object)
	delete(out, compactText)
	delete(out, compactSize)
	delete(out, compactBound)
	if author, known := out[compactAuthor].(string); known {
		delete(out, compactAuthor)
		out["metadata"] = withAuthor(out["metadata"], author)
	}
	rest := map[string]any{}
	if err := utiljson.Unmarshal([]byte(text), &rest); err != nil {
		return nil, 0, fmt.Errorf("cannot decode a resource of the cache: %w", err)
	}
	maps.Copy(out, rest)
	return &unstructured.Unstructured{Object: out}, int(size), limits.Bound(bound).OfResource(int(size))
}

func textOf(fields map[string]any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // one byte of the user's counts as one
	if err := encoder.Encode(fields); err != nil {
		return "", fmt.Errorf("cannot encode a resource for the cache: %w", err)
	}
	return out.String(), nil
}

// mostFinalizers is how many bytes of finalizers an oversized resource may have: if it has more, only ours are left.
const mostFinalizers = 4 << 10

// essentials returns the metadata of an oversized resource that the API server itself limits, and the finalizers.
func essentials(metadata any) map[string]any {
	all, _ := metadata.(map[string]any)
	kept := map[string]any{}
	for _, name := range []string{"namespace", "name", "uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds"} {
		if value, found := all[name]; found {
			kept[name] = value
		}
	}
	finalizers, _ := all["finalizers"].([]any)
	if weight(finalizers) <= mostFinalizers {
		if len(finalizers) > 0 {
			kept["finalizers"] = finalizers
		}
		return kept
	}
	for _, finalizer := range finalizers {
		if finalizer == v1.Finalizer {
			kept["finalizers"] = []any{finalizer}
		}
	}
	return kept
}

// standing returns the fields of an oversized spec that say whether the resource may be changed, and deleted, at all.
func standing(spec any) map[string]any {
	all, _ := spec.(map[string]any)
	kept := map[string]any{}
	for _, name := range []string{"paused", "ttl"} {
		if value, found := all[name]; found && weight(value) <= 64 {
			kept[name] = value
		}
	}
	return kept
}
