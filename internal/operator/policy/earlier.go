package policy

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/violation"
)

// Earlier returns the rules with what earlier versions of the built-in policy allowed, and this one refuses.
func (r Rules) Earlier() Rules {
	if r.rules == nil {
		return r
	}
	return r.policy.chosen(choice{r.choice.matching, true})
}

// Allow returns an error if the rules do not allow rendered objects, and what they allow only because the recorded
// objects have it, and earlier versions of the built-in policy allowed it; nil for nothing.
func (r Rules) Allow(objects, recorded []*unstructured.Unstructured) (outdated *violation.Error, err error) {
	err = r.Check(objects)
	against, refused := errors.AsType[*Error](err)
	if !refused {
		return nil, err
	}
	if added := r.Added(against, recorded); added != nil {
		return nil, added
	}
	return against, r.Earlier().Check(objects)
}

// Added returns an error about what recorded objects do not have of that which another error is about; nil if they have
// all of it.
func (r Rules) Added(against *Error, recorded []*unstructured.Unstructured) *Error {
	before := r.violations(recorded)
	added := slices.DeleteFunc(slices.Clone(against.Violations),
		func(v Violation) bool { return slices.ContainsFunc(before, v.IsSame) })
	if len(added) == 0 {
		return nil
	}
	return &Error{Namespace: against.Namespace, Violations: added}
}
