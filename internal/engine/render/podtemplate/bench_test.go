package podtemplate

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// BenchmarkLargest checks and merges what takes longest of what has room: as many entries as possible, each to be found by its name.
func BenchmarkLargest(b *testing.B) {
	var entries []string
	for i := range maxEntries {
		entries = append(entries, fmt.Sprintf("{name: E%04d, value: %q}", i, strings.Repeat("x", 90)))
	}
	list := "[" + strings.Join(entries, ", ") + "]"
	values := map[string]any{"podTemplate": parse(b, "{spec: {containers: [{name: app, env: "+list+"}]}}")}
	template := strings.Replace(pods, `[{name: A, value: "1"}, {name: B, value: "2"}]`, list, 1)
	for b.Loop() {
		patch, err := Of(appService(), values)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		object := workload(b, "Deployment", template)
		b.StartTimer()
		if err := patch.Apply([]*unstructured.Unstructured{object}); err != nil {
			b.Fatal(err)
		}
	}
}
