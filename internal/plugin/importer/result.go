package importer

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// Import is what was made of the given objects.
type Import struct {
	Results []Result
	// Left are notes on objects that belong to no workload.
	Left []read.Note
	// Failed are the workloads, and objects around them, that cannot be imported.
	Failed []read.Failure
}

// Result is one AppService or AppJob, with notes on differences from the original.
type Result struct {
	Resource *unstructured.Unstructured
	// Rendered are its objects, and Given those that it was made of.
	Rendered, Given []*unstructured.Unstructured
	// Notes are ordered by their objects.
	Notes []read.Note
}

// Unexplained counts the differences without an explanation, which are bugs.
func (i *Import) Unexplained() int {
	count := 0
	for _, result := range i.Results {
		for _, note := range result.Notes {
			if note.Unexplained {
				count++
			}
		}
	}
	return count
}
