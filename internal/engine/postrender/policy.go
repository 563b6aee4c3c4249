package hooks

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/operator/policy"
)

// Policy refuses objects that the platform's policy does not allow in the namespace. Fields that the recorded release
// has, and earlier versions of the built-in policy allowed, stay allowed. It runs last, so that it checks what other
// hooks add.
func Policy(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	rules := in.Facts.Policy
	err := rules.Check(objects)
	against, refused := errors.AsType[*policy.Error](err)
	if !refused {
		return err
	}
	if added := rules.Added(against, in.Facts.Recorded); added != nil {
		return added
	}
	in.outdated(against.Violations...)
	return rules.Earlier().Check(objects)
}

// outdated notes what is allowed only because the recorded release has it.
func (in *Input) outdated(violations ...policy.Violation) {
	if in.Outdated == nil {
		in.Outdated = &policy.Error{Namespace: in.Owner.GetNamespace()}
	}
	in.Outdated.Violations = append(in.Outdated.Violations, violations...)
}
