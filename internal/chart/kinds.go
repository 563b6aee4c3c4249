package chart

import (
	"regexp"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	documents  = regexp.MustCompile(`(?m)^---\s*$`)
	apiVersion = regexp.MustCompile(`(?m)^apiVersion:[ \t]*["']?(.*?)["']?\s*$`)
	kindLine   = regexp.MustCompile(`(?m)^kind:[ \t]*["']?(.*?)["']?\s*$`)
)

// Kinds lists the kinds that the templates of a chart name in so many words, sorted. Kinds that a template computes are
// not among them; they come up when they are first rendered.
func Kinds(c *chart.Chart) []schema.GroupVersionKind {
	found := map[schema.GroupVersionKind]bool{}
	var look func(c *chart.Chart)
	look = func(c *chart.Chart) {
		for _, template := range c.Templates {
			for _, document := range documents.Split(string(template.Data), -1) {
				versions, kinds := apiVersion.FindAllStringSubmatch(document, -1), kindLine.FindAllStringSubmatch(document, -1)
				for i := 0; i < len(versions) && i < len(kinds); i++ {
					if strings.Contains(versions[i][1]+kinds[i][1], "{{") {
						continue
					}
					found[schema.FromAPIVersionAndKind(versions[i][1], kinds[i][1])] = true
				}
			}
		}
		for _, dependency := range c.Dependencies() {
			look(dependency)
		}
	}
	look(c)
	list := make([]schema.GroupVersionKind, 0, len(found))
	for kind := range found {
		list = append(list, kind)
	}
	sort.Slice(list, func(i, j int) bool { return strings.Compare(list[i].String(), list[j].String()) < 0 })
	return list
}
