// Package violation says which fields of rendered objects the platform, or a standard, does not allow, and what would
// allow them.
package violation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

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
	// Hidden is a value that no message shows.
	Hidden string
	Refusal
}

// Refusal is a rule that does not allow a value.
type Refusal struct {
	// Rule is its name in files, for example volumeTypes or annotations.Pod.
	Rule string
	// Why is the rule, what it allows, and where it is set.
	Why string
	// Allow is the value of the rule that would allow it; of a list, the missing item.
	Allow any
}

// Beneath is the first entry of a list of a rule that stands for the list beneath it.
const Beneath = "+"

// Missing is the missing item of a list.
type Missing string

func (v Violation) String() string {
	at := v.Path
	if v.Value != "" {
		at += " " + v.Value
	}
	return fmt.Sprintf("%s %q: %s: %s", v.Kind, v.Name, at, v.Why)
}

// Error reports what the policy does not allow.
type Error struct {
	// Namespace of the objects; empty if it is not known.
	Namespace  string
	Violations []Violation
}

func (e *Error) Error() string { return fmt.Sprintf("%s; allow it by %s", e.Shown(), e.line()) }

// Shown returns the message for a condition, which has no room for the line that allows it: the hint has that.
func (e *Error) Shown() string { return "violates the platform's policy: " + Few(e.Parts(), "; ") }

// Parts returns the violations one by one.
func (e *Error) Parts() []string {
	var list []string
	for _, each := range e.Violations {
		list = append(list, each.String())
	}
	return list
}

// line returns the entry of a file that allows all of it to the namespace.
func (e *Error) line() string {
	entry := struct {
		Names []string       `yaml:"names"`
		Rules map[string]any `yaml:",inline"`
	}{[]string{cmp.Or(e.Namespace, "NAMESPACE")}, map[string]any{}}
	for _, each := range e.Violations {
		if each.Rule == "" { // of another standard
			continue
		}
		into := entry.Rules
		rule, kind, byKind := strings.Cut(each.Rule, ".")
		if byKind {
			kinds, _ := into[rule].(map[string]any)
			if kinds == nil {
				kinds = map[string]any{}
			}
			into[rule] = kinds
			into, rule = kinds, kind
		}
		switch allow := each.Allow.(type) {
		case Missing:
			list, _ := into[rule].([]string)
			if list == nil {
				list = []string{Beneath}
			}
			if !slices.Contains(list, string(allow)) {
				list = append(list, string(allow))
			}
			into[rule] = list
		case int64:
			before, _ := into[rule].(int64)
			into[rule] = max(before, allow)
		default:
			into[rule] = allow
		}
	}
	var node yaml.Node
	err := node.Encode(entry)
	node.Style = yaml.FlowStyle
	text, failed := yaml.Marshal(&node)
	if err = cmp.Or(err, failed); err != nil {
		return err.Error() // texts, numbers and booleans can be encoded
	}
	return "- " + strings.TrimSpace(string(text))
}

// Reason returns the reason of Ready.
func (e *Error) Reason() string { return v1.ReasonPolicyViolation }

// Hint returns what to do.
func (e *Error) Hint() string {
	return "change the fields named in the message, or have the platform team allow it by a line below namespaces in the operator's " +
		"policy: " + e.line() + "; until then the running release stays as it is"
}

// Advice returns what to do about fields that are allowed only because the recorded release has them.
func (e *Error) Advice() string {
	const stays = "the recorded release has it, so it stays allowed; change the fields named in the message"
	if !slices.ContainsFunc(e.Violations, func(v Violation) bool { return v.Rule != "" }) {
		return stays
	}
	return stays + ", or have the platform team allow it by a line below namespaces in the operator's policy: " + e.line()
}

// mostShown is the maximum number of violations, and of list entries, in a message.
const mostShown = 3

// Few joins a list, shortened if it is too long.
func Few(list []string, separator string) string {
	if more := len(list) - mostShown; more > 1 {
		list = append(list[:mostShown:mostShown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, separator)
}

// position is the place of an item in a list, which says nothing about the item.
var position = regexp.MustCompile(`\[\d+\]`)

// ofRun is the end of the name of a Job that runs once (jobs.Run), which is another one for each run.
var ofRun = regexp.MustCompile(`-[0-9a-f]{8}$`)

// IsSame reports whether a violation is another one, of an earlier rendering of the object.
func (v Violation) IsSame(other Violation) bool {
	content := func(v Violation) [6]string {
		name := v.Name
		if v.Kind == "Job" {
			name = ofRun.ReplaceAllString(name, "")
		}
		return [6]string{v.Kind, name, position.ReplaceAllString(v.Path, ""), v.Value, v.Hidden, v.Rule}
	}
	return content(v) == content(other)
}
