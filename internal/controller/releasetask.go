package controller

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube/livestate"
)

// taskRan reports whether a task of a release has run, or may have: an earlier release then meets what it changed. No
// release has a task.
func taskRan(_ *scope, _ *livestate.Record) bool { return false }

// returnsAfterTask reports whether the spec asks to return also after a task of the release that failed has run.
func (s *scope) returnsAfterTask() bool {
	after, _, _ := unstructured.NestedBool(s.resource.Object, "spec", "onFailure", "afterTask")
	return after
}
