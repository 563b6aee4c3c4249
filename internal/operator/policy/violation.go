package policy

import (
	"cmp"

	"github.com/example/appservice-operator/internal/engine/violation"
)

// Refusals in the words that the engine passes on.
type (
	// Violation is one field of a rendered object that the policy does not allow.
	Violation = violation.Violation
	// Refusal is what a rule does not allow.
	Refusal = violation.Refusal
	// Error reports what the policy does not allow.
	Error = violation.Error

	missing = violation.Missing
)

// shown formats a list of allowed values.
func shown(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	quoted := make([]string, 0, len(list))
	for _, item := range list {
		quoted = append(quoted, cmp.Or(item, `""`))
	}
	return violation.Few(quoted, ", ")
}
