package preview

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Diff is the difference between two renderings of a resource.
type Diff struct {
	// Name is the resource's name for users.
	Name string
	// Before and After are the renderings.
	Before, After Outcome
	Changes       []Change
	// Consequences are the effects of the changes, the worst first.
	Consequences []Consequence
	// Idle are the fields of the spec that no longer have an effect.
	Idle []string
}

// DiffOf compares two renderings of a resource.
func DiffOf(name string, before, after Outcome) *Diff {
	d := &Diff{Name: name, Before: before, After: after}
	switch {
	case after.Err != nil && before.Err == nil:
		d.Consequences = []Consequence{{Refused, fmt.Sprintf("refused: %v; the running release stays as it is", after.Err)}}
		return d
	case after.Err != nil || before.Err != nil:
		return d
	}
	d.Changes = Changes(before.Objects, after.Objects)
	sameSpec := before.Source != nil && after.Source != nil && !before.Source.Differs(after.Source.Spec)
	d.Consequences = Consequences(before.Objects, after.Objects, d.Changes, sameSpec)
	if len(d.Changes) > 0 && !d.Has(Refused) { // a refused release runs nothing
		d.Consequences = append(d.Consequences, taskConsequences(before, after)...)
		if !sameSpec {
			for _, kept := range unneeded(before.Retained, after.Objects) {
				d.Consequences = append(d.Consequences, Consequence{Loses, kept + ", which was kept, is deleted WITH ITS DATA"})
			}
		}
		sortWorst(d.Consequences)
	}
	for _, field := range after.Unknown {
		if !slices.Contains(before.Unknown, field) {
			d.Idle = append(d.Idle, field)
		}
	}
	return d
}

// Empty reports whether nothing differs.
func (d *Diff) Empty() bool {
	same := d.Before.Err == nil && d.After.Err == nil
	return same && len(d.Changes) == 0 && len(d.Idle) == 0
}

// Has reports whether one of the consequences has an effect.
func (d *Diff) Has(effect Effect) bool {
	return slices.ContainsFunc(d.Consequences, func(c Consequence) bool { return c.Effect == effect })
}

// Summary returns the diff in one line.
func (d *Diff) Summary() string {
	switch {
	case d.After.Err != nil && d.Before.Err != nil:
		return "cannot be rendered, as before"
	case d.After.Err != nil:
		return "will be refused"
	case d.Before.Err != nil:
		return "can be rendered, which it could not before"
	case len(d.Changes) == 0 && len(d.Idle) == 0:
		return "nothing changes"
	}
	parts := []string{Plural(len(d.Changes), "object") + " " + verb(len(d.Changes))}
	switch {
	case d.Has(Refused):
		return parts[0] + "; the upgrade will be REFUSED, and the running release stays as it is"
	case d.Has(Loses):
		parts = append(parts, "DATA is deleted")
	}
	if d.Has(Restarts) {
		parts = append(parts, "pods WILL restart")
	} else {
		parts = append(parts, "no pod restarts")
	}
	return strings.Join(parts, "; ")
}

// Mark is the type of a line of a diff.
type Mark rune

// The marks.
const (
	Head        Mark = ' '
	Consequent  Mark = '!'
	Comes       Mark = '+'
	Goes        Mark = '-'
	Differs     Mark = '~'
	FieldOf     Mark = '·'
	Explanation Mark = '?'
)

// Line is a line of a printed diff.
type Line struct {
	Mark Mark
	Text string
}

// Lines returns the diff as text: the summary, the effects of the changes, and the changes.
func (d *Diff) Lines() []Line {
	lines := []Line{{Head, d.Name + ": " + d.Summary()}}
	for _, consequence := range d.Consequences {
		if consequence.Effect == Rests {
			lines = append(lines, Line{Explanation, "    " + consequence.Text})
			continue
		}
		lines = append(lines, Line{Consequent, "  ! " + consequence.Text})
	}
	// a refusal among the consequences has the text of the error
	for _, failed := range []error{d.Before.Err, d.After.Err} {
		if failed != nil && len(d.Consequences) == 0 {
			lines = append(lines, Line{Explanation, "    " + failed.Error()})
			break
		}
	}
	for _, field := range d.Idle {
		lines = append(lines, Line{Consequent,
			"  ! the field " + field + " no longer has an effect: the new chart does not declare it"})
	}
	for _, change := range d.Changes {
		key := kube.KeyOf(change.Object()).String()
		switch {
		case change.Old == nil:
			lines = append(lines, Line{Comes, "  + " + key})
		case change.New == nil:
			lines = append(lines, Line{Goes, "  - " + key})
		default:
			lines = append(lines, Line{Differs, "  ~ " + key})
		}
		for _, field := range change.Fields {
			lines = append(lines, Line{FieldOf, "      " + field.String()})
		}
	}
	return lines
}

// Plural returns a count with a noun that takes an s.
func Plural(count int, noun string) string {
	if count != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", count, noun)
}

func verb(count int) string {
	if count == 1 {
		return "changes"
	}
	return "change"
}

// Changes lists the objects that differ between two renderings: those that exist afterwards first, in the order in
// which they are applied. A Job that runs once stays as it is for as long as it has the same name.
func Changes(old, rendered []*unstructured.Unstructured) []Change {
	var list []Change
	earlier := kube.ByKey(old)
	for _, object := range rendered {
		before := earlier[kube.KeyOf(object)]
		if before == nil {
			list = append(list, Change{New: object})
		} else if jobs.RunsOnce(object) && jobs.RunsOnce(before) {
			continue
		} else if fields := plan.Differences(before, object); len(fields) > 0 {
			list = append(list, Change{Old: before, New: object, Fields: fields})
		}
	}
	remaining := kube.ByKey(rendered)
	for _, object := range old {
		if remaining[kube.KeyOf(object)] == nil {
			list = append(list, Change{Old: object})
		}
	}
	return list
}

// Report is a diff as JSON.
type Report struct {
	Name         string         `json:"name"`
	Summary      string         `json:"summary"`
	Restarts     bool           `json:"restartsPods"`
	Refused      string         `json:"refused,omitempty"`
	Consequences []Consequence  `json:"consequences,omitempty"`
	Objects      []ReportObject `json:"objects,omitempty"`
}

// ReportObject is an object that is created, changed or deleted.
type ReportObject struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Change string `json:"change"`
	// Fields have no values if these must not be printed.
	Fields []plan.Difference `json:"fields,omitempty"`
}

// Report returns the diff as JSON has it.
func (d *Diff) Report() Report {
	r := Report{Name: d.Name, Summary: d.Summary(), Restarts: d.Has(Restarts), Consequences: d.Consequences}
	if d.After.Err != nil {
		r.Refused = d.After.Err.Error()
	}
	for _, change := range d.Changes {
		key := kube.KeyOf(change.Object())
		object := ReportObject{Kind: key.Kind, Name: key.Name, Change: "changed", Fields: change.Fields}
		switch {
		case change.Old == nil:
			object.Change = "created"
		case change.New == nil:
			object.Change = "deleted"
		}
		r.Objects = append(r.Objects, object)
	}
	return r
}
