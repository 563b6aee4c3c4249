package hooks

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Policy refuses objects that the platform's policy does not allow in the namespace. It runs last, so that it checks
// what other hooks add.
func Policy(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	return in.Facts.Policy.Check(objects)
}
