package importer

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/text"
)

// compare adds a note for each field that differs between the original and the rendered objects.
func (s *subject) compare(rendered []*unstructured.Unstructured) {
	before, after := s.comparables(s.given), s.comparables(rendered)
	s.selectors(rendered)
	s.lostLabels(before, after)
	for _, object := range s.given {
		role := s.role(object)
		made := after[role]
		if made == nil {
			s.notMade(object)
			continue
		}
		for _, difference := range release.Differences(before[role], made) {
			if !strings.HasPrefix(difference.Field, "metadata.labels") {
				s.explain(role, describe(object), difference)
			}
		}
	}
	for _, object := range rendered {
		if before[s.role(object)] == nil {
			s.added(object)
		}
	}
}

// selectors adds a note if the pods are selected by other labels.
func (s *subject) selectors(rendered []*unstructured.Unstructured) {
	if maps.Equal(s.selector.MatchLabels, selecting(s.name)) && len(s.selector.MatchExpressions) == 0 {
		return
	}
	const remedy = "nothing to do: an AppService that adopts it keeps the selector of what runs"
	for _, object := range s.given {
		field := ""
		switch object.GetKind() {
		case "Deployment", "StatefulSet", "PodDisruptionBudget", "Service", "ServiceMonitor":
			field = "spec.selector"
		case "NetworkPolicy":
			field = "spec.podSelector"
		}
		if field != "" && s.roleIn(rendered, object) {
			s.note(describe(object), field,
				"a new AppService selects by its own labels, app.kubernetes.io/name and app.kubernetes.io/instance", remedy)
		}
	}
}

func (s *subject) roleIn(rendered []*unstructured.Unstructured, object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(rendered,
		func(made *unstructured.Unstructured) bool { return s.role(made) == s.role(object) })
}

// lostLabels adds one note for the labels of all objects, because charts set the same labels on each.
func (s *subject) lostLabels(before, after map[string]*unstructured.Unstructured) {
	of := map[string][]string{}
	for _, object := range s.given {
		role := s.role(object)
		if after[role] == nil {
			continue
		}
		has := after[role].GetLabels()
		for key, value := range before[role].GetLabels() {
			if has[key] != value {
				of[key] = append(of[key], describe(object))
			}
		}
		for key, value := range has {
			if value != "" && before[role].GetLabels()[key] == "" {
				s.note(describe(object), "metadata.labels."+key,
					"it gets a label that the pods have, as spec.commonLabels is for all objects", "")
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		s.note(describe(s.workload), "metadata.labels."+key,
			"it is left out, on "+strings.Join(of[key], ", ")+": not all objects have it, and the pods",
			"set it for all of them by spec.commonLabels")
	}
}

// notMade adds a note on why an object is not rendered.
func (s *subject) notMade(object *unstructured.Unstructured) {
	for _, refusal := range s.refused {
		if refusal.from.object == describe(object) {
			s.note(describe(object), refusal.from.field, "it is not taken: "+text.Line(refusal.err.Error()),
				"keep this object beside the AppService")
			return
		}
	}
	switch {
	case object.GetKind() == "Ingress":
		s.note(describe(object), "spec.rules", "none of them leads to these pods",
			"keep this Ingress beside the AppService")
	case object.GetKind() == "Service" && s.role(object) == roleHeadless:
		s.note(describe(object), "", "only replicas with a volume of their own have names",
			"keep this Service beside the AppService")
	default:
		s.notes = append(s.notes, Note{Object: describe(object), Reason: "the AppService does not make it",
			Remedy: "keep it beside the AppService", Unexplained: true})
	}
}

// added adds a note on why an object is new.
func (s *subject) added(object *unstructured.Unstructured) {
	switch {
	case object.GetKind() == "PodDisruptionBudget":
		s.note(describe(object), "", "it is new: with 2 replicas or more, one pod may be evicted at a time",
			"leave it, or set spec.podDisruptionBudget.enabled to false")
	case object.GetKind() == "Service" && s.role(object) == roleHeadless:
		s.note(describe(object), "", "it is new: it gives the replicas their names", "")
	default:
		s.notes = append(s.notes, Note{Object: describe(object), Reason: "the AppService makes it, and there was none",
			Unexplained: true})
	}
}

// explain adds a note on why a field differs.
func (s *subject) explain(role, object string, d release.Difference) {
	if d.Field == "spec.template.metadata.annotations" && changeOf(d) == goes { // all annotations
		for _, key := range slices.Sorted(maps.Keys(foreignAnnotations(s.template.Annotations))) {
			s.explain(role, object, release.Difference{Field: d.Field + "." + key, Old: d.Old, New: d.New})
		}
		return
	}
	if strings.HasPrefix(role, roleFurther) {
		role = "Service"
	}
	note := Note{Object: object, Field: d.Field}
	for _, refusal := range s.refused {
		if refusal.from.object == object && within(d.Field, refusal.from.field) {
			note.Reason, note.Remedy = "it is left out, as the operator refuses it: "+text.Line(refusal.err.Error()),
				"change it as that says, or keep this object as it is"
			s.addOnce(note)
			return
		}
	}
	for _, rule := range rules {
		if (rule.role == "" || rule.role == role) && rule.field.MatchString(d.Field) &&
			(rule.of == anyChange || rule.of == changeOf(d)) {
			note.Reason, note.Remedy = rule.reason, rule.remedy
			if rule.values && d.Old != "" {
				note.Reason = d.Old + " becomes " + d.New + ": " + note.Reason
			}
			s.addOnce(note)
			return
		}
	}
	note.Reason, note.Unexplained = "it was "+d.Old+", and becomes "+d.New+": no field of an AppService says it", true
	note.Remedy = "keep this object beside the AppService if it matters"
	s.addOnce(note)
}

func within(field, of string) bool {
	below := func(a, b string) bool { return strings.HasPrefix(a, b+".") || strings.HasPrefix(a, b+"[") }
	return field == of || below(field, of) || below(of, field)
}

func (s *subject) addOnce(note Note) {
	if !slices.Contains(s.notes, note) {
		s.notes = append(s.notes, note)
	}
}
