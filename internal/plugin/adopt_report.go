package plugin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// adoption is the report on one resource; its exported fields are the JSON output.
type adoption struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Against lists why the adoption is refused; empty if it is possible.
	Against  []string        `json:"against,omitempty"`
	Restarts bool            `json:"restartsPods"`
	Objects  []adoptedObject `json:"objects"`
	// Creates are the objects that do not exist yet, and Stays those of the Helm release that are not rendered.
	Creates []string `json:"creates,omitempty"`
	Stays   []string `json:"stays,omitempty"`
	// Requested is set once the annotations were written.
	Requested bool `json:"asked"`

	own    int
	hinted []string // Against for text output, with one hint for all
	source *unstructured.Unstructured
	owner  string
}

// adoptedObject is an object that would be taken over.
type adoptedObject struct {
	Kind   string            `json:"kind"`
	Name   string            `json:"name"`
	Owner  string            `json:"owner"`
	Fields []plan.Difference `json:"fields,omitempty"`

	ends []string
	key  kube.Key
}

// adoptionOf returns the report of a survey.
func adoptionOf(one subject, survey *release.Survey) *adoption {
	report := &adoption{
		Name: one.name(), Against: survey.Refusals(), Restarts: survey.Ends(), Objects: []adoptedObject{},
		Stays: survey.Unrendered, own: len(survey.Own),
	}
	for _, found := range survey.Found {
		report.Objects = append(report.Objects, adoptedObject{
			Kind: found.Key.Kind, Name: found.Key.Name, Owner: found.Owner, Fields: found.Changes(), ends: found.Ends,
			key: found.Key,
		})
		report.hinted = append(report.hinted, found.Against...)
	}
	report.hinted = append(report.hinted, survey.Against...)
	for _, object := range survey.Missing {
		report.Creates = append(report.Creates, kube.KeyOf(object).String())
	}
	return report
}

// refuse adds a reason why the adoption is refused.
func (r *adoption) refuse(text string) {
	r.Against, r.hinted = append(r.Against, text), append(r.hinted, text)
}

// Refused reports whether the adoption is refused.
func (r *adoption) Refused() bool { return len(r.Against) > 0 }

func (r *adoption) summary() string {
	switch count := len(r.Objects); {
	case r.Refused():
		return fmt.Sprintf("cannot take over the existing objects: %s", preview.Plural(len(r.Against), "problem"))
	case count == 0 && r.own > 0:
		return "nothing to take over: the existing objects are its own already"
	case count == 0:
		return "nothing to take over: no objects of these names exist"
	case r.Requested:
		return fmt.Sprintf("takes over %s; %s", preview.Plural(count, "object"), r.pods())
	default:
		return fmt.Sprintf("would take over %s; %s", preview.Plural(count, "object"), r.pods())
	}
}

// pods returns the effect on pods, in a few words.
func (r *adoption) pods() string {
	restart := func(thing adoptedObject) bool {
		return slices.ContainsFunc(thing.Fields, func(field plan.Difference) bool { return field.Restarts })
	}
	switch {
	case slices.ContainsFunc(r.Objects, restart):
		return "pods WILL restart"
	case r.Restarts:
		return "pods WILL end"
	}
	return "no pod restarts"
}

// lines returns the report as text.
func (r *adoption) lines() []preview.Line {
	lines := []preview.Line{{Mark: preview.Head, Text: r.Name + ": " + r.Summary}}
	add := func(mark preview.Mark, text string) { lines = append(lines, preview.Line{Mark: mark, Text: text}) }
	for _, text := range r.hinted {
		add(preview.Consequent, "  ! "+text)
	}
	for _, thing := range r.Objects {
		for _, text := range thing.ends {
			add(preview.Consequent, "  ! "+text)
		}
	}
	if len(r.Against) > len(r.hinted) {
		add(preview.Explanation, "    keep these fields in the spec, or allow it: --restart")
	}
	for _, text := range r.Stays {
		add(preview.Consequent, "  ! "+text+" of the Helm release is not rendered: it stays as it is, and nothing manages it")
	}
	for _, thing := range r.Objects {
		add(preview.Differs, fmt.Sprintf("  ~ %s, %s", thing.key, thing.Owner))
		for _, text := range thing.fields() {
			add(preview.FieldOf, "      "+text)
		}
	}
	for _, text := range r.Creates {
		add(preview.Comes, "  + "+text)
	}
	return lines
}

// fields returns the fields that change, except those that restart pods, which are printed first. Labels and
// annotations that are only added share a line.
func (t adoptedObject) fields() []string {
	var list, added []string
	for _, field := range t.Fields {
		name, isMetadata := strings.CutPrefix(field.Field, "metadata.")
		switch {
		case field.Restarts:
		case isMetadata && field.Old == none:
			_, name, _ = strings.Cut(name, ".")
			added = append(added, name)
		default:
			list = append(list, field.String())
		}
	}
	if len(added) > 0 {
		list = append([]string{"labels and annotations are added: " + strings.Join(added, ", ")}, list...)
	}
	return list
}

// none is the old value of a field that was not set.
const none = "(none)"
