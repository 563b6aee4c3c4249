package kinds

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// published is the entry of watches.yaml, with comments.
func (k kind) published(s *survey) string {
	var out strings.Builder
	fmt.Fprintf(&out, "- group: %s\n  version: %s\n  kind: %s\n  chart: %s\n  from: %s\n", k.Group, k.Version, k.Kind, k.Chart, appchart.FromPublished)
	out.WriteString("  # The kinds that the chart may render.\n  renders:\n")
	with := ""
	for _, kind := range s.kinds {
		comment(&out, &with, kind.with)
		fmt.Fprintf(&out, "  - %s\n", kind.what)
	}
	if len(s.rules) > 0 {
		out.WriteString("  # What its roles may grant, and the roles of others that it may bind.\n  grants:\n")
	}
	with = ""
	for _, rule := range s.rules {
		comment(&out, &with, rule.with)
		out.WriteString("  " + strings.ReplaceAll(strings.TrimSuffix(ruleText(rule.what), "\n"), "\n", "\n  ") + "\n")
	}
	return out.String()
}

func comment(out *strings.Builder, last *string, with string) {
	if with != *last {
		fmt.Fprintf(out, "  # with %s\n", with)
	}
	*last = with
}

// plainWord needs no quotes in a list of YAML.
var plainWord = regexp.MustCompile(`^[a-z/][\w./-]*$`)

// ruleText is a rule of a role.
func ruleText(rule rbacv1.PolicyRule) string {
	var lines []string
	for i, list := range parts(&rule) {
		if len(*list) == 0 {
			continue
		}
		var words []string
		if list == &rule.Verbs {
			*list = inOrder(*list)
		}
		for _, word := range *list {
			var read any // true, for example, is no text
			if err := yaml.Unmarshal([]byte(word), &read); err != nil || read != word || !plainWord.MatchString(word) {
				word = fmt.Sprintf("%q", word)
			}
			words = append(words, word)
		}
		name := []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"}[i]
		lines = append(lines, fmt.Sprintf("  %s: [%s]\n", name, strings.Join(words, ", ")))
	}
	return "- " + strings.TrimPrefix(strings.Join(lines, ""), "  ")
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// remarks say what the entry lacks.
func (s *survey) remarks(c *helmchart.Chart, known *kind) []string {
	var list []string
	if s.failed != nil {
		list = append(list, fmt.Sprintf("The chart does not render without values: %s. So renders of %s has all kinds that templates name, and grants is to be written.",
			oneLine(s.failed), watchesFile))
	}
	for _, name := range s.unnamed {
		list = append(list, fmt.Sprintf("%s has a wildcard, or is not rendered with these values, so the operator may only write or bind it by name: make the kind with NAMES=NAME of the resources.", name))
	}
	if known != nil {
		for _, kind := range s.kinds {
			if !slices.Contains(known.Renders, kind.what) {
				list = append(list, fmt.Sprintf("renders of %s lacks %s, which the chart renders with %s.", watchesFile, kind.what, orDefaults(kind.with)))
			}
		}
		for _, rule := range s.rules {
			if !covers(rule.what, known.Grants...) {
				list = append(list, fmt.Sprintf("grants of %s lacks, with %s:\n%s", watchesFile, orDefaults(rule.with), ruleText(rule.what)))
			}
		}
		return list
	}
	var others []string
	for kind, template := range appchart.Templates(c) {
		if kind.Kind == "PersistentVolumeClaim" {
			continue // most are in StatefulSets
		}
		if name := kind.GroupKind().String(); !slices.ContainsFunc(s.kinds, func(known rendered[string]) bool { return known.what == name }) &&
			kind.Kind != "CustomResourceDefinition" && !strings.Contains(template, "/tests/") {
			others = append(others, fmt.Sprintf("%s (%s)", name, template))
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		list = append(list, "Templates name these kinds, too, which take further values, or are never written; add to renders what you need: "+strings.Join(others, ", "))
	}
	return list
}

func orDefaults(with string) string {
	if with == "" {
		return "its defaults"
	}
	return with
}

func openValues(open []string) []string {
	if len(open) == 0 {
		return nil
	}
	slices.Sort(open)
	return []string{"values.schema.json says more of these than a CRD can: " + strings.Join(slices.Compact(open), ", ") + ". Helm checks them."}
}
