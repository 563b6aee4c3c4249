package postrender

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Policy refuses what the platform's policy does not allow in the namespace. It comes last: nothing that another hook adds passes it by.
func Policy(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	return in.Facts.Policy.Check(objects)
}
