package plan

import (
	"fmt"
	"slices"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// DisorderError reports that a list of an object has had another order than is rendered since a time when the operator
// did not restore that: the next release does.
type DisorderError struct {
	Key   kube.Key
	Field string
}

func (e *DisorderError) Error() string {
	return fmt.Sprintf("%s: %s has another order than is rendered; the next release restores it", e.Key, e.Field)
}

// Reason returns the reason of the warning.
func (e *DisorderError) Reason() string { return v1.ReasonContended }

// Hint returns how the order is restored at once.
func (e *DisorderError) Hint() string {
	return "kubectl appservice restart restores it, and restarts the pods"
}

// Disordered returns an error about the first object that differs only in the order of lists; nil if there is none.
func (p *Plan) Disordered() error {
	if at := slices.IndexFunc(p.Apply, func(c Change) bool { return c.onlyOrder }); at >= 0 {
		return &DisorderError{Key: kube.KeyOf(p.Apply[at].Desired), Field: p.Apply[at].Field}
	}
	return nil
}

// KeepOrder leaves out of a plan objects that differ only in the order of lists.
func (p *Plan) KeepOrder() {
	p.Apply = slices.DeleteFunc(p.Apply, func(c Change) bool { return c.onlyOrder })
}
