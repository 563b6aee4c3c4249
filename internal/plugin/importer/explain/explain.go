// Package explain has a note, with reason and remedy, for each difference between the objects that an AppService is
// made of and those that it makes, and for each object that became part of none.
package explain

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/proof"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
)

// Differences compares the original with the rendered objects, and returns a note for each difference, in the order of
// the original objects. All are the applications that are made together.
func Differences(a *translate.Application, all []*translate.Application) []read.Note {
	e := &explainer{Application: a, notes: slices.Clone(a.Notes)}
	for _, d := range proof.Differences(e.before(), e.after(all)) {
		e.difference(d)
	}
	e.notesBeside()
	e.gather()
	slices.SortStableFunc(e.notes, func(a, b read.Note) int { return cmp.Compare(e.rank(a.Object), e.rank(b.Object)) })
	return e.notes
}

// before is the application as it was, among the other workloads of its namespace.
func (e *explainer) before() proof.Side {
	others := map[string]map[string]string{}
	for _, object := range e.Objects.All {
		template := read.PodTemplate(object)
		if template != nil && object != e.Object && !read.Controlled(object) && !read.IsHook(object) {
			others[read.Describe(object)] = template.Labels
		}
	}
	return proof.Side{Objects: e.Given, Others: others}
}

// after is the application as it is rendered, among the other workloads as they are then.
func (e *explainer) after(all []*translate.Application) proof.Side {
	side := e.before()
	side.Objects = e.Rendered
	for _, other := range all {
		if other == e.Application || other.Namespace() != e.Namespace() {
			continue
		}
		for _, object := range other.Rendered {
			if template := read.PodTemplate(object); template != nil && object.GetKind() != "Job" {
				side.Others[read.Describe(other.Object)] = template.Labels
			}
		}
	}
	return side
}

// rank orders notes by their objects.
func (e *explainer) rank(object string) int {
	is := func(o *unstructured.Unstructured) bool { return read.Describe(o) == object }
	if at := slices.IndexFunc(e.Given, is); at >= 0 {
		return at
	}
	return len(e.Given)
}

// difference adds a note on why there is a difference. It looks for a loss of the translation, for a refusal of the
// operator, and for a rule; a difference that has none of them is a bug.
func (e *explainer) difference(d proof.Difference) {
	switch {
	case d.Before == nil:
		e.added(d.After)
		return
	case d.After == nil:
		e.notMade(d.Before)
		return
	case strings.HasPrefix(d.Field, "metadata.labels."),
		d.Old == nil && ofClaim.MatchString(d.Field) && theOperators(labelOf(d.Field)):
		e.labels = append(e.labels, d)
		return
	case e.foldedInKind(d):
		return
	}
	note := read.Note{Object: d.Object(), Field: e.pathOf(d.Field)}
	for _, loss := range e.Losses {
		if loss.Object == note.Object && within(d.Field, loss.Field) {
			note.Reason, note.Remedy = loss.Reason, loss.Remedy
			e.notes.AddOnce(note)
			return
		}
	}
	for _, refusal := range e.Refused {
		if refusal.From.Object == note.Object && within(d.Field, refusal.From.Field) && d.Old != nil {
			note.Reason, note.Remedy = "it is left out, as it would be refused: "+text.Line(refusal.Err.Error()),
				"change it as that says, or keep this object as it is"
			e.notes.AddOnce(note)
			return
		}
	}
	e.notes.AddOnce(e.ruled(note, d))
}

// ruled completes a note by the first rule that matches.
func (e *explainer) ruled(note read.Note, d proof.Difference) read.Note {
	for _, rule := range rules {
		if (rule.role == "" || rule.role == e.role(d) || rule.role == d.Before.GetKind()) && (rule.kind == "" || rule.kind == e.Kind()) &&
			rule.field.MatchString(d.Field) && (rule.of == anyChange || rule.of == changeOf(d)) &&
			(rule.was == "" || strings.Contains(rule.was, proof.Brief(d.Old))) {
			note.Reason, note.Remedy = rule.reason, rule.remedy
			if rule.values {
				note.Reason = proof.Brief(d.Old) + " becomes " + proof.Brief(d.New) + ": " + note.Reason
			}
			return note
		}
	}
	note.Reason = "it was " + proof.Brief(d.Old) + ", and becomes " + proof.Brief(d.New) + ", which kubectl appservice import has no reason for"
	note.Remedy, note.Unexplained = "keep this object beside the "+e.Kind()+" if it matters, and report this", true
	return note
}

// foldedInKind reports whether a field is part of a change of the kind, whose one note names it.
func (e *explainer) foldedInKind(d proof.Difference) bool {
	if d.Before != e.Object || d.After.GetKind() == d.Before.GetKind() {
		return false
	}
	return ofKind.MatchString(d.Field) || d.Old == nil && strings.HasPrefix(d.Field, "spec.selector")
}

// notMade adds a note on why an object is not rendered.
func (e *explainer) notMade(object *unstructured.Unstructured) {
	for _, refusal := range e.Refused {
		if refusal.From.Object == read.Describe(object) {
			e.notes.Add(read.Describe(object), refusal.From.Field, "it is not taken: "+text.Line(refusal.Err.Error()),
				"keep this object beside the AppService")
			return
		}
	}
	switch {
	case object.GetKind() == "Ingress":
		e.notes.Add(read.Describe(object), "spec.rules", "none of them leads to these pods",
			"keep this Ingress beside the AppService")
	default:
		e.notes = append(e.notes, read.Note{Object: read.Describe(object), Reason: "the AppService does not make it",
			Remedy: "keep it beside the AppService, and report this", Unexplained: true})
	}
}

// added adds a note on why an object is new.
func (e *explainer) added(object *unstructured.Unstructured) {
	switch {
	case object.GetKind() == "PodDisruptionBudget":
		e.notes.Add(read.Describe(object), "", "it is new: with 2 replicas or more, one pod may be evicted at a time",
			"leave it, or set spec.podDisruptionBudget.enabled to false")
	case object.GetKind() == "Service" && object.GetLabels()["app.example.com/headless"] != "":
		e.notes.Add(read.Describe(object), "", "it is new: it gives the replicas their names", "")
	default:
		e.notes = append(e.notes, read.Note{Object: read.Describe(object),
			Reason: "the " + e.Kind() + " makes it, and there was none",
			Remedy: "report this", Unexplained: true})
	}
}
