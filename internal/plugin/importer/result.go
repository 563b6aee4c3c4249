package importer

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Import is what was made of the given objects.
type Import struct {
	Results []Result
	// Left are notes on objects that belong to no workload.
	Left []Note
	// Failed are the workloads, and objects around them, that cannot be imported.
	Failed []Failure
}

// Result is one AppService or AppJob, with notes on differences from the original.
type Result struct {
	Resource *unstructured.Unstructured
	// Rendered are its objects, and Given those that it was made of.
	Rendered, Given []*unstructured.Unstructured
	// Notes are ordered by their objects.
	Notes []Note
}

// Failure is an object that cannot be imported.
type Failure struct {
	// Object is its kind and name.
	Object string
	Err    error
}

// Note explains why a field, or a whole object, differs with the AppService, and has a remedy.
type Note struct {
	// Object is its kind and name, as in "Deployment web".
	Object string
	// Field is its path; empty for the object as a whole.
	Field string
	// Reason is the difference and its cause.
	Reason string
	// Remedy is what to do, or how to keep the original.
	Remedy string
	// Unexplained is set for a difference that no rule explains, which is a bug of this package.
	Unexplained bool
}

// Place returns the object and the field.
func (n Note) Place() string { return strings.TrimSuffix(n.Object+" "+n.Field, " ") }

// String returns the note in one line.
func (n Note) String() string {
	text := n.Place() + ": " + n.Reason
	if n.Remedy != "" {
		text += "; " + n.Remedy
	}
	return text
}

// Unexplained counts the differences without an explanation, which are bugs.
func (i *Import) Unexplained() int {
	count := 0
	for _, result := range i.Results {
		for _, note := range result.Notes {
			if note.Unexplained {
				count++
			}
		}
	}
	return count
}

// resource returns an AppService or AppJob with a spec.
func resource(of types.NamespacedName, kind string, content map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": of.Name}
	if of.Namespace != "" {
		metadata["namespace"] = of.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": content,
	}}
}

// plainly returns the errors of an API server without the values and the remarks on its own work.
func plainly(err error) error {
	var list utilerrors.Aggregate
	if !errors.As(err, &list) {
		return err
	}
	var texts []string
	for _, one := range list.Errors() {
		var found *field.Error
		switch {
		case !errors.As(one, &found):
			texts = append(texts, one.Error())
		case strings.HasPrefix(found.Detail, "some validation rules were not checked"):
		case found.Field == "" || found.Field == "<nil>":
			texts = append(texts, found.Detail)
		default:
			texts = append(texts, strings.TrimSuffix(found.Field+": "+cmp.Or(found.Detail, strings.ToLower(found.Type.String())), ": "))
		}
	}
	slices.Sort(texts)
	return errors.New(strings.Join(slices.Compact(texts), ", "))
}

// describe returns kind and name of an object.
func describe(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// piece is a part of a spec.
type piece struct {
	// from is its source: a field of the workload or of another object.
	from source
	set  func(*v1.AppServiceSpec)
	// job are fields that only an AppJob has; set is nil then.
	job map[string]any
}

// source is a field of an object.
type source struct{ object, field string }

// refusal is the error that made import leave out a piece.
type refusal struct {
	from source
	err  error
}

// accepted returns what is accepted of more items, in their order, after those that are taken already. It tries all of
// them, then halves, so that a few that are refused cost few attempts.
func accepted[T any](taken, more []T, try func([]T) error, refused func(T, error)) []T {
	if len(more) == 0 {
		return taken
	}
	with := slices.Concat(taken, more)
	err := try(with)
	if err == nil {
		return with
	}
	if len(more) == 1 {
		refused(more[0], err)
		return taken
	}
	half := len(more) / 2
	return accepted(accepted(taken, more[:half], try, refused), more[half:], try, refused)
}

// matches reports whether a selector selects labels; one that is nil or empty selects nothing here.
func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return false
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}
