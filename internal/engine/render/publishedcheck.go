package render

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// CheckPublished returns what the administrator of a published chart should know before it is served: why a resource
// without a spec would be refused, warnings about it, and which overrideValues a spec can have printed. It returns nil
// for any other chart.
func CheckPublished(ctx context.Context, entry appchart.Watch, c *chart.Chart) (list []string) {
	if !entry.Is() {
		return nil
	}
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	resource.SetGroupVersionKind(entry.GroupVersionKind)
	resource.SetName("example")
	resource.SetNamespace("default")
	resource.SetUID(PlaceholderUID)
	r := For(entry, c)
	result, err := r.Render(ctx, resource, Serving(c))
	if err != nil {
		list = append(list, fmt.Sprintf("a resource without a spec is refused: %v", err))
	} else {
		for _, warning := range result.Warnings {
			list = append(list, fmt.Sprintf("%s: %s", warning.Source, warning.Message))
		}
		if len(result.Definitions) > 0 {
			list = append(list, fmt.Sprintf("these CustomResourceDefinitions are left out, install them before: %s",
				strings.Join(result.Definitions, ", ")))
		}
	}
	for _, path := range printable(entry, c) {
		list = append(list, fmt.Sprintf("overrideValues.%s can be printed by a spec, which may repeat the chart's own {{ }}: keep secrets out of it", path))
	}
	return list
}

var (
	// all matches an action that prints all that a template sees.
	all = regexp.MustCompile(`(^|[ (|])[.$]([ )|]|$)`)
	// includes matches the name of a template that an action includes.
	includes = regexp.MustCompile(`\b(?:include|template) "([^"]+)"`)
)

// printable lists the paths of overrideValues that an action which tpl executes names, or a template that it includes,
// or a map that they are in.
func printable(entry appchart.Watch, c *chart.Chart) (list []string) {
	actions := slices.Collect(maps.Keys(actionsOf(c, entry.DefaultValues, entry.OverrideValues)))
	below := includedBy(c, actions)
	for _, path := range slices.Sorted(maps.Keys(entry.OverrideValues)) {
		at, named := "", []string(nil)
		for step := range strings.SplitSeq(path, ".") {
			at += `\.` + regexp.QuoteMeta(step)
			named = append(named, at)
		}
		pattern := regexp.MustCompile(`\.Values(` + strings.Join(named, "|") + `)?([^\w.]|$)`)
		if slices.ContainsFunc(actions, func(action string) bool {
			return pattern.MatchString(action) || all.MatchString(action) && !strings.Contains(action, "include ")
		}) || slices.ContainsFunc(below, pattern.MatchString) {
			list = append(list, path)
		}
	}
	return list
}

// includedBy returns the actions of the templates that some actions include, and of those that these include.
func includedBy(c *chart.Chart, actions []string) (list []string) {
	defined := map[string][]string{}
	for _, file := range appchart.TemplateFiles(c) {
		for _, tree := range treesOf(file.Text) {
			defined[tree.Name] = append(defined[tree.Name], actionsIn(tree)...)
		}
	}
	for len(actions) > 0 {
		var next []string
		for _, action := range actions {
			for _, match := range includes.FindAllStringSubmatch(action, -1) {
				next = append(next, defined[match[1]]...)
				delete(defined, match[1])
			}
		}
		list, actions = append(list, next...), next
	}
	return list
}
