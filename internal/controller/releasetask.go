package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
)

// taskRan reports whether a task ran after an earlier release was made, or may have: that release would then meet what
// the task has changed.
func (s *scope) taskRan(earlier *release.Source) bool {
	return slices.ContainsFunc(s.previous.Runs, func(run v1.RunStatus) bool {
		known := earlier != nil && slices.ContainsFunc(earlier.Runs,
			func(before v1.RunStatus) bool { return before.Digest == run.Digest })
		return !known && run.Result != v1.RunSkipped
	})
}

// returnsAfterTask reports whether the spec asks to return also after a task of the release that failed has run.
func (s *scope) returnsAfterTask() bool {
	after, _, _ := unstructured.NestedBool(s.resource.Object, "spec", "onFailure", "afterTask")
	return after
}
