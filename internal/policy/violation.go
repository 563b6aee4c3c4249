package policy

import (
	"fmt"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Violation is one thing of a rendered object that the policy does not allow.
type Violation struct {
	// Kind and Name of the object.
	Kind, Name string
	// Path of the field, as in spec.type.
	Path string
	// Value is what stands there, as far as that helps.
	Value string
	// Why is the rule, what it allows, and where it stands.
	Why string
}

func (v Violation) String() string {
	at := v.Path
	if v.Value != "" {
		at += " " + v.Value
	}
	return fmt.Sprintf("%s %q: %s: %s", v.Kind, v.Name, at, v.Why)
}

// Error says what the policy does not allow.
type Error struct{ Violations []Violation }

// mostShown is how many violations, and how many entries of a list, a message shows.
const mostShown = 5

func (e *Error) Error() string {
	list := make([]string, 0, len(e.Violations))
	for _, each := range e.Violations {
		list = append(list, each.String())
	}
	return "the platform's policy does not allow it: " + few(list, "; ")
}

// Reason is that of Ready.
func (e *Error) Reason() string { return v1.ReasonPolicyViolation }

// Hint says what to do.
func (e *Error) Hint() string {
	return "change what the message names, or ask the platform team to allow it to this namespace in the operator's policy; what runs is kept as it is until then"
}

// few joins a list, of which it leaves out what is too much.
func few(list []string, separator string) string {
	if more := len(list) - mostShown; more > 1 {
		list = append(list[:mostShown:mostShown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, separator)
}

// shown is a list of what is allowed, in words.
func shown(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	quoted := make([]string, 0, len(list))
	for _, item := range list {
		if item == "" {
			item = `""`
		}
		quoted = append(quoted, item)
	}
	return few(quoted, ", ")
}
