package policy

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Earlier returns the rules with what earlier versions of the built-in policy allowed, and this one refuses.
func (r Rules) Earlier() Rules {
	if r.rules == nil {
		return r
	}
	return r.policy.chosen(choice{r.choice.matching, true})
}

// Added returns an error about what recorded objects do not have of that which another error is about; nil if they have
// all of it.
func (r Rules) Added(against *Error, recorded []*unstructured.Unstructured) *Error {
	before := r.violations(recorded)
	added := slices.DeleteFunc(slices.Clone(against.Violations),
		func(v Violation) bool { return slices.ContainsFunc(before, v.isSame) })
	if len(added) == 0 {
		return nil
	}
	return &Error{against.Namespace, added}
}

// position is the place of an item in a list, which says nothing about the item.
var position = regexp.MustCompile(`\[\d+\]`)

// ofRun is the end of the name of a Job that runs once (jobs.Run), which is another one for each run.
var ofRun = regexp.MustCompile(`-[0-9a-f]{8}$`)

// isSame reports whether a violation is another one, of an earlier rendering of the object.
func (v Violation) isSame(other Violation) bool {
	content := func(v Violation) [6]string {
		name := v.Name
		if v.Kind == "Job" {
			name = ofRun.ReplaceAllString(name, "")
		}
		return [6]string{v.Kind, name, position.ReplaceAllString(v.Path, ""), v.Value, v.hidden, v.Rule}
	}
	return content(v) == content(other)
}
