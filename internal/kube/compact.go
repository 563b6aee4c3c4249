package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/extent"
)

// Fields of a compact resource. The API server takes no fields of such names.
const (
	compactText   = "(text)"   // JSON of all that is not in the resource itself
	compactSize   = "(size)"   // bytes of JSON that the resource has
	compactAuthor = "(author)" // who changed the spec last, and when: all that is kept of managed fields
)

// Compact returns a resource as the cache keeps it: its metadata without managed fields and its status, and all else as one text, which
// takes a tenth of the memory of the same as maps. Of a resource that is larger than it may be, only what the operator has to know of each is left, so that
// it takes next to no memory however large it is. What is compact already is returned as it is.
func Compact(resource *unstructured.Unstructured) (*unstructured.Unstructured, error) {
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
	if kept["metadata"], author = withoutManagedFields(resource); author != "" {
		kept[compactAuthor] = author
	}
	size := len(text) + weight(kept["metadata"])
	if extent.OfResource(size) != nil {
		kept["metadata"] = essentials(kept["metadata"])
		if text, err = textOf(map[string]any{"spec": standing(rest["spec"])}); err != nil {
			return nil, err
		}
	}
	kept[compactText], kept[compactSize] = text, int64(size)
	return &unstructured.Unstructured{Object: kept}, nil
}

// Whole returns a compact resource with all fields, and the bytes of JSON that it has. The error is an extent.Error if those are too many:
// then the spec has no more than what the operator has to know. Any other resource is returned as it is.
func Whole(resource *unstructured.Unstructured) (*unstructured.Unstructured, int, error) {
	text, compact := resource.Object[compactText].(string)
	if !compact {
		return resource, 0, nil
	}
	size, _ := resource.Object[compactSize].(int64)
	out := maps.Clone(resource.Object)
	delete(out, compactText)
	delete(out, compactSize)
	if author, known := out[compactAuthor].(string); known {
		delete(out, compactAuthor)
		out["metadata"] = withAuthor(out["metadata"], author)
	}
	rest := map[string]any{}
	if err := utiljson.Unmarshal([]byte(text), &rest); err != nil {
		return nil, 0, fmt.Errorf("cannot decode a resource of the cache: %w", err)
	}
	maps.Copy(out, rest)
	return &unstructured.Unstructured{Object: out}, int(size), extent.OfResource(int(size))
}

func textOf(fields map[string]any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // one byte of a user's is one
	if err := encoder.Encode(fields); err != nil {
		return "", fmt.Errorf("cannot encode a resource for the cache: %w", err)
	}
	return out.String(), nil
}

// mostFinalizers is how many bytes the finalizers of a resource may have that is too large: none but ours are left of more.
const mostFinalizers = 4 << 10

// essentials is the metadata of a resource that is too large: what the API server bounds itself, and the finalizers.
func essentials(metadata any) map[string]any {
	all, _ := metadata.(map[string]any)
	kept := map[string]any{}
	for _, name := range []string{"namespace", "name", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
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

// standing is of a spec that is too large what says whether the resource is to be touched, and deleted, at all.
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
