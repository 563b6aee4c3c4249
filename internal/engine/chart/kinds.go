package chart

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	documents  = regexp.MustCompile(`(?m)^---\s*$`)
	apiVersion = regexp.MustCompile(`(?m)^apiVersion:[ \t]*["']?(.*?)["']?\s*$`)
	// claimTemplates matches the templates from which objects of a kind create claims.
	claimTemplates = regexp.MustCompile(`(?m)^\s+volumeClaimTemplates:`)
	kindLine       = regexp.MustCompile(`(?m)^kind:[ \t]*["']?(.*?)["']?\s*$`)
)

// claim is the kind of the objects created from claim templates: it is watched, and written to, like rendered kinds.
var claim = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

// Kinds lists the kinds that are written literally in the templates of a chart, sorted. Kinds that a template computes
// are not included; they are found when they are first rendered.
func Kinds(c *chart.Chart) []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(Templates(c)),
		func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
}

// Templates returns these kinds, each with the first template that names it, for example templates/service.yaml.
func Templates(c *chart.Chart) map[schema.GroupVersionKind]string {
	found := map[schema.GroupVersionKind]string{}
	var look func(folder string, c *chart.Chart)
	look = func(folder string, c *chart.Chart) {
		for _, template := range c.Templates {
			for _, kind := range named(string(template.Data)) {
				if _, known := found[kind]; !known {
					found[kind] = folder + template.Name
				}
			}
		}
		for _, dependency := range c.Dependencies() {
			look(folder+"charts/"+dependency.Name()+"/", dependency)
		}
	}
	look("", c)
	return found
}

// named lists the kinds that the text of a template names.
func named(text string) []schema.GroupVersionKind {
	var list []schema.GroupVersionKind
	for _, document := range documents.Split(text, -1) {
		versions, kinds := apiVersion.FindAllStringSubmatch(document, -1), kindLine.FindAllStringSubmatch(document, -1)
		for i := 0; i < len(versions) && i < len(kinds); i++ {
			if !strings.Contains(versions[i][1]+kinds[i][1], "{{") {
				list = append(list, schema.FromAPIVersionAndKind(versions[i][1], kinds[i][1]))
			}
		}
		if claimTemplates.MatchString(document) {
			list = append(list, claim)
		}
	}
	return list
}

// Unwatchable returns why no operator of this kind can watch the objects of a kind, ever; empty if it can.
func Unwatchable(kind schema.GroupVersionKind) string {
	switch kind.Group {
	case "apiextensions.k8s.io":
		if kind.Kind == "CustomResourceDefinition" {
			return "this operator writes no definitions of kinds: they are for the whole cluster"
		}
	case "authentication.k8s.io", "authorization.k8s.io":
		return "the API server answers such objects, and does not keep them"
	}
	if slices.Contains([]string{"/Binding", "policy/Eviction", "autoscaling/Scale"}, kind.Group+"/"+kind.Kind) {
		return "such objects belong to others, and cannot be listed"
	}
	return ""
}

// checkKinds returns the mistakes in the kinds that templates name literally, rendered or not.
func checkKinds(c *chart.Chart) (faults []error) {
	for _, file := range TemplateFiles(c) {
		if strings.HasSuffix(file.Name, "NOTES.txt") {
			continue
		}
		text := file.withoutComments()
		for _, kind := range named(text) {
			why := Unwatchable(kind)
			if why == "" {
				continue
			}
			line := slices.IndexFunc(strings.Split(text, "\n"), func(line string) bool {
				found := kindLine.FindStringSubmatch(line)
				return found != nil && found[1] == kind.Kind
			})
			faults = append(faults, &Fault{Rule: RuleUnwatchable, File: inside(file), Text: file.Text,
				Line: line + 1, Column: 1,
				Message: fmt.Sprintf("renders a %s, which cannot be watched: %s", kind.Kind, why),
				Remedy:  "remove it from the chart, or create it before the operator is installed"})
		}
	}
	return faults
}
