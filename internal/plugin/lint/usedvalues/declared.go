package usedvalues

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

const valuesFile = "values.yaml"

// ofOperator reports whether the operator itself acts on a field, so charts need not use it.
func ofOperator(kind schema.GroupVersionKind, name string) bool {
	return kind.GroupKind() == v1.GroupVersion.WithKind(v1.Kind).GroupKind() &&
		slices.Contains([]string{"onFailure", "paused", "podTemplate", "ttl"}, name)
}

// ignored returns the fields of the Go type of a kind that no template uses. Nested fields are covered by
// test/contract.
func (a *analysis) ignored(kind schema.GroupVersionKind) fields.Problems {
	core, typed := fields.Core(kind)
	if !typed {
		return nil
	}
	var problems fields.Problems
	for _, name := range slices.Sorted(maps.Keys(fields.Members(core))) {
		if field := "spec." + name; !a.uses(field) && !ofOperator(kind, name) {
			problems = append(problems, fields.Problem{File: path.Join(a.dir, "templates"),
				Text: field + " of " + kind.Kind + " is used by no template: setting it has no effect"})
		}
	}
	return problems
}

// unused lists the fields of the file that no template uses.
func (a *analysis) unused(declared *fields.File) fields.Problems {
	var problems fields.Problems
	for _, leaf := range declared.Paths() {
		if !a.uses(leaf) {
			problems = append(problems, fields.Problem{File: declared.Path, Line: declared.LineOf(leaf), Text: leaf +
				" is used by no template: use .Values" + strings.TrimPrefix(leaf, "spec") + ", or remove it"})
		}
	}
	return problems
}

// idle returns the entries of values.yaml that no template uses, except those declared in fields.yaml, which unused
// returns.
func (a *analysis) idle(c *chart.Chart, kind schema.GroupVersionKind, declared *fields.File) fields.Problems {
	var problems fields.Problems
	ours := func(name string) bool {
		return name == "global" || slices.ContainsFunc(c.Dependencies(),
			func(d *chart.Chart) bool { return d.Name() == name }) ||
			slices.ContainsFunc(c.Metadata.Dependencies, func(d *chart.Dependency) bool { return d.Alias == name }) ||
			declared != nil && fields.Property(declared.Spec, name) != nil || ofOperator(kind, name)
	}
	eachEntry(c, func(steps []string, line int, inner bool) bool {
		if at := strings.Join(steps, "."); !inner && !ours(steps[0]) && !a.uses("spec."+at) {
			says := at + " is used by no template: remove it"
			problems = append(problems, fields.Problem{File: path.Join(a.dir, valuesFile), Line: line, Text: says})
		}
		return true
	})
	return problems
}

// fieldless returns the entries of values.yaml without a field in the Go type of the kind or in fields.yaml.
func fieldless(c *chart.Chart, dir string, kind schema.GroupVersionKind, declared *fields.File) fields.Problems {
	bare := *c
	bare.Values = nil
	root := valuesOf(&bare, kind, declared)
	var problems fields.Problems
	eachEntry(c, func(steps []string, line int, _ bool) bool {
		at, known := *root, true
		for i := 0; known && i < len(steps); i++ {
			at, known = at.Field(steps[i])
		}
		if !known {
			problems = append(problems, fields.Problem{File: path.Join(dir, valuesFile), Line: line, Text: fmt.Sprintf(
				"%s is not a field of %s, so no spec can set it: declare it in %s, or put it into the template",
				strings.Join(steps, "."), kind.Kind, fields.Name,
			)})
		}
		return known
	})
	return problems
}

// eachEntry visits the entries of a chart's values.yaml in the order of the file. Inner says that an entry has entries
// of its own, which are visited if visit returns true.
func eachEntry(c *chart.Chart, visit func(steps []string, line int, inner bool) bool) {
	var document yaml.Node
	for _, file := range c.Raw {
		if file.Name == valuesFile && yaml.Unmarshal(file.Data, &document) != nil {
			return // a chart with invalid YAML here does not load
		}
	}
	var walk func(node *yaml.Node, steps []string)
	walk = func(node *yaml.Node, steps []string) {
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			below := append(slices.Clone(steps), key.Value)
			if visit(below, key.Line, value.Kind == yaml.MappingNode && len(value.Content) > 0) {
				walk(value, below)
			}
		}
	}
	if len(document.Content) > 0 {
		walk(document.Content[0], nil)
	}
}
