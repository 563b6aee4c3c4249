package postrender

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/violation"
)

// Rules are what the platform allows in a namespace.
type Rules interface {
	// Allow returns an error if rendered objects are not allowed, and what is allowed only because the recorded objects
	// have it; nil for nothing.
	Allow(objects, recorded []*unstructured.Unstructured) (outdated *violation.Error, err error)
}

// Policy refuses objects that the platform's policy does not allow in the namespace. It runs last, so that it checks
// what other hooks add.
func Policy(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	if in.Facts.Policy == nil {
		return nil
	}
	outdated, err := in.Facts.Policy.Allow(objects, in.Facts.Recorded)
	if outdated != nil {
		in.outdated(outdated.Violations...)
	}
	return err
}

// outdated notes what is allowed only because the recorded release has it.
func (in *Input) outdated(violations ...violation.Violation) {
	if in.Outdated == nil {
		in.Outdated = &violation.Error{Namespace: in.Owner.GetNamespace()}
	}
	in.Outdated.Violations = append(in.Outdated.Violations, violations...)
}
