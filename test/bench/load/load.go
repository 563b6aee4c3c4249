// Package load has the AppServices of the benchmark, and writes to many of them at a time.
package load

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Writers is how many write at a time.
const Writers = 16

// The images of the AppServices, before and after the change.
const (
	OldImage = "registry.example.com/team/web:1.0.0"
	NewImage = "registry.example.com/team/web:2.0.0"
)

// AppService with some pods, one port and one Ingress.
func AppService(version schema.GroupVersion, namespace, name string, pods int) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"size":    int64(pods),
		"image":   OldImage,
		"ports":   []any{map[string]any{"port": int64(80), "targetPort": int64(8080)}},
		"ingress": Ingress(name),
	}}}
	out.SetGroupVersionKind(version.WithKind("AppService"))
	out.SetNamespace(namespace)
	out.SetName(name)
	return out
}

// Ingress is the field of that name.
func Ingress(name string) map[string]any {
	return map[string]any{"hosts": []any{map[string]any{"host": name + ".example.com"}}}
}

// Names of count AppServices.
func Names(prefix string, count int) []string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("%s-%04d", prefix, i))
	}
	return names
}

// Each calls do for each name, several at a time, and returns the first error.
func Each(ctx context.Context, names []string, do func(context.Context, string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan string, len(names))
	for _, name := range names {
		queue <- name
	}
	close(queue)
	var group sync.WaitGroup
	for range Writers {
		group.Go(func() {
			for name := range queue {
				if ctx.Err() != nil {
					return
				}
				if err := do(ctx, name); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
