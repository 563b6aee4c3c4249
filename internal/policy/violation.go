package policy

import (
	"cmp"
	"fmt"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Violation is one field of a rendered object that the policy does not allow.
type Violation struct {
	// Kind and Name of the object.
	Kind, Name string
	// Path of the field, for example spec.type.
	Path string
	// Value of the field, if that helps.
	Value string
	// Why is the rule, what it allows, and where it is set.
	Why string
}

func (v Violation) String() string {
	at := v.Path
	if v.Value != "" {
		at += " " + v.Value
	}
	return fmt.Sprintf("%s %q: %s: %s", v.Kind, v.Name, at, v.Why)
}

// Error reports what the policy does not allow.
type Error struct{ Violations []Violation }

// mostShown is the maximum number of violations, and of list entries, in a message.
const mostShown = 3

func (e *Error) Error() string {
	list := make([]string, 0, len(e.Violations))
	for _, each := range e.Violations {
		list = append(list, each.String())
	}
	return "against the platform's policy: " + few(list, "; ")
}

// Reason returns the reason of Ready.
func (e *Error) Reason() string { return v1.ReasonPolicyViolation }

// Hint returns what to do.
func (e *Error) Hint() string {
	return "change what the message names, or ask the platform team to allow it to this namespace in the operator's policy; what runs is kept as it is until then"
}

// few joins a list, shortened if it is too long.
func few(list []string, separator string) string {
	if more := len(list) - mostShown; more > 1 {
		list = append(list[:mostShown:mostShown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, separator)
}

// shown formats a list of what is allowed.
func shown(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	quoted := make([]string, 0, len(list))
	for _, item := range list {
		quoted = append(quoted, cmp.Or(item, `""`))
	}
	return few(quoted, ", ")
}
