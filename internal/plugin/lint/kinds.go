package lint

import (
	"fmt"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
)

// kinds checks the kinds that templates name literally, whether or not a case renders them.
func (f *findings) kinds(loaded *helmchart.Chart, subject Subject) {
	foreign, _ := chart.ForeignKinds(loaded) // a chart with a mistake there does not load
	templates := chart.Templates(loaded)
	for _, kind := range chart.Kinds(loaded) {
		file := templates[kind]
		line, text := lineOf(loaded, file, kind)
		found := Finding{File: file, Line: line, Excerpt: chart.Excerpt(text, line, min(line, 1))}
		if _, said := foreign[kind.GroupKind()]; !said && !scheme.Scheme.Recognizes(kind) {
			found.Rule = ruleOf(ruleForeign)
			found.Message = fmt.Sprintf("%s of %s is a custom kind, and Chart.yaml does not declare its resource name for roles",
				kind.Kind, kind.Group)
			found.Remedy = fmt.Sprintf("add to the annotation %s of Chart.yaml: \"%s: {resource: …}\"",
				chart.AnnotationForeignKinds, kind.GroupKind())
			f.add(found)
			continue // rights need the resource name
		}
		if subject.Granted == nil {
			continue
		}
		need := rbac.OfRendered(loaded, kind, file)
		if missing := subject.Granted.Lacks(need); len(missing) > 0 {
			found.Rule = ruleOf(ruleRights)
			found.Message = (&rbac.MissingError{Need: need, Verbs: missing}).Error()
			f.add(found)
		}
	}
}

// lineOf returns the line of a template that names a kind, 0 if there is none, and the template's text.
func lineOf(c *helmchart.Chart, file string, kind schema.GroupVersionKind) (int, string) {
	for _, template := range chart.TemplateFiles(c) {
		if _, below, _ := strings.Cut(template.Name, "/"); below != file {
			continue
		}
		for i, line := range strings.Split(template.Text, "\n") {
			if name, is := strings.CutPrefix(line, "kind:"); is && strings.Trim(name, ` "'`) == kind.Kind {
				return i + 1, template.Text
			}
		}
		return 0, template.Text
	}
	return 0, ""
}
