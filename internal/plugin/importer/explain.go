package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/proof"
)

// Roles of objects in rules. For all others, it is the kind, by which rules find the Service of replicas, too.
const (
	roleWorkload = "workload"
	roleTask     = "release task"
	roleReplicas = "the Service that names replicas"
)

// role is what rules call an object.
func (s *subject) role(d proof.Difference) string {
	switch {
	case d.Before == s.workload:
		return roleWorkload
	case d.Before.GetKind() == "Job":
		return roleTask
	case s.headless != nil && d.Before == s.headless.object:
		return roleReplicas
	}
	return d.Before.GetKind()
}

// explain adds a note on why there is a difference. It looks for what the translation left out, for what the operator
// refused, and for a rule; a difference that has none of them is a bug.
func (s *subject) explain(d proof.Difference) {
	switch {
	case d.Before == nil:
		s.added(d.After)
		return
	case d.After == nil:
		s.notMade(d.Before)
		return
	case strings.HasPrefix(d.Field, "metadata.labels."),
		d.Old == nil && ofClaim.MatchString(d.Field) && theOperators(labelOf(d.Field)):
		s.labels = append(s.labels, d)
		return
	case s.foldedInKind(d):
		return
	}
	note := Note{Object: d.Object(), Field: s.pathOf(d.Field)}
	for _, loss := range s.losses {
		if loss.Object == note.Object && within(d.Field, loss.Field) {
			note.Reason, note.Remedy = loss.Reason, loss.Remedy
			s.addOnce(note)
			return
		}
	}
	for _, refusal := range s.refused {
		if refusal.from.object == note.Object && within(d.Field, refusal.from.field) && d.Old != nil {
			note.Reason, note.Remedy = "it is left out, as it would be refused: "+text.Line(refusal.err.Error()),
				"change it as that says, or keep this object as it is"
			s.addOnce(note)
			return
		}
	}
	s.addOnce(s.ruled(note, d))
}

// ruled completes a note by the first rule that matches.
func (s *subject) ruled(note Note, d proof.Difference) Note {
	for _, rule := range rules {
		if (rule.role == "" || rule.role == s.role(d) || rule.role == d.Before.GetKind()) && (rule.kind == "" || rule.kind == s.kind()) &&
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
	note.Remedy, note.Unexplained = "keep this object beside the "+s.kind()+" if it matters, and report this", true
	return note
}

// pathOf returns a field of the pods as it is called in the workload.
func (s *subject) pathOf(field string) string {
	rest, pods := strings.CutPrefix(field, "spec.template.")
	switch {
	case pods && s.workload.GetKind() == "Pod":
		return rest
	case pods && s.workload.GetKind() == "CronJob":
		return "spec.jobTemplate.spec.template." + rest
	}
	return field
}

// foldedInKind reports whether a field is part of a change of the kind, whose one note names it.
func (s *subject) foldedInKind(d proof.Difference) bool {
	if d.Before != s.workload || d.After.GetKind() == d.Before.GetKind() {
		return false
	}
	return ofKind.MatchString(d.Field) || d.Old == nil && strings.HasPrefix(d.Field, "spec.selector")
}

// within reports whether one of two paths is part of the other.
func within(field, of string) bool {
	below := func(a, b string) bool {
		return strings.HasPrefix(a, b+".") || strings.HasPrefix(a, b+"[") || strings.HasPrefix(a, b+" ")
	}
	return field == of || below(field, of) || below(of, field)
}

func (s *subject) addOnce(note Note) {
	if !slices.Contains(s.notes, note) {
		s.notes = append(s.notes, note)
	}
}

// gather adds one note for each label, because charts set the same labels on all objects.
func (s *subject) gather() {
	of, was, is := map[string][]string{}, map[string]string{}, map[string]string{}
	var added []string
	for _, d := range s.labels {
		key := labelOf(d.Field)
		switch {
		case d.Old == nil && theOperators(key):
			added = append(added, key)
		case d.Old == nil:
			s.note(d.Object(), d.Field, "it gets a label that the pods have, as spec.commonLabels is for all objects", "")
		default:
			of[key] = append(of[key], d.Object())
			was[key], is[key] = proof.Brief(d.Old), proof.Brief(d.New)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		on := ", on " + strings.Join(of[key], ", ") + ": "
		switch {
		case key == "helm.sh/chart" || key == "app.kubernetes.io/managed-by":
			s.note(describe(s.workload), "metadata.labels."+key, was[key]+" becomes "+is[key]+on+"the operator says its own", "nothing to do")
		case is[key] != none:
			s.note(describe(s.workload), "metadata.labels."+key, was[key]+" becomes "+is[key]+on+"the operator finds its objects by it",
				"change other selectors that use it")
		case key == versionLabel || key == "heritage" || key == "chart":
			s.note(describe(s.workload), "metadata.labels."+key, "it is left out"+on+"it would be wrong with the next version", "nothing to do")
		case s.kind() == JobKind:
			s.note(describe(s.workload), "metadata.labels."+key, "it is left out"+on+"no field sets labels of the objects of an AppJob", "nothing to do")
		case s.ownLabels(map[string]string{key: was[key]})[key] == "":
			s.note(describe(s.workload), "metadata.labels."+key, "it is left out"+on+"no field sets labels of this domain", "take another key")
		default:
			s.note(describe(s.workload), "metadata.labels."+key, "it is left out"+on+"not all objects have it, and the pods",
				"set it for all of them by spec.commonLabels")
		}
	}
	if slices.Sort(added); len(added) > 0 {
		s.note(describe(s.workload), "metadata.labels", "the operator adds "+strings.Join(slices.Compact(added), ", ")+" to all objects",
			"nothing to do")
	}
}

// ofClaim is a label of the claims of replicas.
var ofClaim = regexp.MustCompile(`^spec\.volumeClaimTemplates\[[^]]*\]\.metadata\.labels\.`)

// labelOf returns the key of a label from its path.
func labelOf(field string) string {
	_, key, _ := strings.Cut(field, "metadata.labels.")
	return key
}

// theOperators reports whether a label is one of those that the operator sets on all objects.
func theOperators(key string) bool {
	return slices.Contains([]string{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart"}, key)
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
	default:
		s.notes = append(s.notes, Note{Object: describe(object), Reason: "the AppService does not make it",
			Remedy: "keep it beside the AppService, and report this", Unexplained: true})
	}
}

// added adds a note on why an object is new.
func (s *subject) added(object *unstructured.Unstructured) {
	switch {
	case object.GetKind() == "PodDisruptionBudget":
		s.note(describe(object), "", "it is new: with 2 replicas or more, one pod may be evicted at a time",
			"leave it, or set spec.podDisruptionBudget.enabled to false")
	case object.GetKind() == "Service" && object.GetLabels()["app.example.com/headless"] != "":
		s.note(describe(object), "", "it is new: it gives the replicas their names", "")
	default:
		s.notes = append(s.notes, Note{Object: describe(object), Reason: "the " + s.kind() + " makes it, and there was none",
			Remedy: "report this", Unexplained: true})
	}
}

// notesBeside says about each object that stays whether it still finds what it selects.
func (s *subject) notesBeside() {
	for _, b := range s.beside {
		found, what := s.stillFinds(b.object)
		remedy := "keep this one beside it: it finds the " + what + " by labels that they keep"
		if !found {
			remedy = fmt.Sprintf("keep this one beside it, and have it select app.kubernetes.io/name=%s,app.kubernetes.io/instance=%s: "+
				"it selects the %s by labels that they do not keep, unless the AppService adopts the running objects", s.selecting()["app.kubernetes.io/name"], s.name, what)
		}
		switch b.object.GetKind() {
		case "Ingress", "HorizontalPodAutoscaler":
			remedy = "keep this one beside the AppService"
		}
		s.note(describe(b.object), "", b.reason, remedy)
	}
}

// stillFinds reports whether an object selects the pods, or Services, as they are rendered, and what it selects.
func (s *subject) stillFinds(object *unstructured.Unstructured) (found bool, what string) {
	field, what := "selector", "pods"
	switch object.GetKind() {
	case "NetworkPolicy":
		field = "podSelector"
	case "ServiceMonitor":
		what = "Service"
	}
	content, _, _ := unstructured.NestedMap(object.Object, "spec", field)
	if object.GetKind() == "Service" {
		content = map[string]any{"matchLabels": content}
	}
	selector := selectorOf(content)
	for _, made := range s.rendered {
		if template := podTemplate(made); what == "pods" && template != nil && made.GetKind() != "Job" && matches(selector, template.Labels) ||
			what == "Service" && made.GetKind() == "Service" && matches(selector, made.GetLabels()) {
			return true, what
		}
	}
	return false, what
}
