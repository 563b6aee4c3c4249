package usedvalues

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// Comparison has the differences between the values that the templates of a chart use and those that are declared by
// the Go type of the kind, fields.yaml and values.yaml. Values that cannot be traced, for example through a computed
// name, count as used.
type Comparison struct {
	// Undeclared are the uses of fields that are not declared, with their position in the template.
	Undeclared fields.Problems
	// Unused are the fields of fields.yaml that no template uses.
	Unused fields.Problems
	// Ignored are the fields of the Go type that no template uses.
	Ignored fields.Problems
	// Idle are the entries of values.yaml that no template uses.
	Idle fields.Problems
	// Fieldless are the other entries of values.yaml that no spec can set.
	Fieldless fields.Problems
	// Unseen are the templates whose calls were not all looked at.
	Unseen fields.Problems
}

// Compare compares the values of a chart; dir is the chart's folder in messages. The error is of a fields.yaml or a
// template that does not parse.
func Compare(c *chart.Chart, dir string, kind schema.GroupVersionKind) (*Comparison, error) {
	declared, err := fields.OfFolder(c, dir, kind)
	if err != nil {
		return nil, err
	}
	_, typed := fields.Core(kind)
	known := typed || declared != nil // else, the CRD alone defines its spec
	values := valuesOf(c, kind, declared)
	a := &analysis{
		dir: dir, trees: map[string]*parse.Tree{}, texts: map[string]string{}, done: map[string]bool{},
		found: map[string]fields.Problem{}, unseen: map[string]bool{},
	}
	if err := a.parse(c); err != nil {
		return nil, err
	}
	for _, file := range c.Templates {
		if !strings.HasPrefix(path.Base(file.Name), "_") {
			a.template(file.Name, value{parts: map[string]value{"Values": {at: values}}})
		}
	}
	compared := &Comparison{Idle: a.idle(c, kind, declared), Unseen: a.notLookedAt()}
	if !known {
		return compared, nil
	}
	compared.Undeclared = sortedProblems(slices.Collect(maps.Values(a.found)))
	compared.Fieldless = slices.DeleteFunc(fieldless(c, dir, kind, declared), func(p fields.Problem) bool {
		return slices.ContainsFunc(compared.Idle, func(idle fields.Problem) bool { return idle.Line == p.Line })
	})
	compared.Unused, compared.Ignored = sortedProblems(a.unused(declared)), a.ignored(kind)
	return compared, nil
}

// notLookedAt names the templates that were not executed as often as they are called.
func (a *analysis) notLookedAt() (problems fields.Problems) {
	for _, name := range slices.Sorted(maps.Keys(a.unseen)) {
		tree := a.trees[name]
		line := 1 + strings.Count(a.texts[tree.ParseName][:tree.Root.Pos], "\n")
		problems = append(problems, fields.Problem{File: path.Join(a.dir, tree.ParseName), Line: line, Text: fmt.Sprintf(
			"template %q includes itself too often to be followed: values that it uses may be missing from the other findings",
			name)})
	}
	return problems
}

func sortedProblems(problems fields.Problems) fields.Problems {
	slices.SortFunc(problems, func(a, b fields.Problem) int { return strings.Compare(a.Error(), b.Error()) })
	return problems
}

// parse parses each file alone. If a definition exists twice, one is used, as in Helm.
func (a *analysis) parse(c *chart.Chart) error {
	for _, file := range c.Templates {
		tree := parse.New(file.Name)
		tree.Mode = parse.SkipFuncCheck
		set := map[string]*parse.Tree{}
		if _, err := tree.Parse(string(file.Data), "", "", set); err != nil {
			return err
		}
		a.texts[file.Name] = string(file.Data)
		maps.Copy(a.trees, set)
		if set[file.Name] == nil {
			a.trees[file.Name] = tree
		}
	}
	return nil
}
