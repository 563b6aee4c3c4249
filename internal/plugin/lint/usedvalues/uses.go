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

// Survey compares the values that the templates of a chart use with those that are declared by the Go type of the kind,
// fields.yaml and values.yaml. Values that cannot be traced, for example through a computed name, count as used.
type Survey struct {
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

// Look surveys a chart; dir is the chart's folder in messages. The error is of a fields.yaml or a template that does
// not parse.
func Look(c *chart.Chart, dir string, kind schema.GroupVersionKind) (*Survey, error) {
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
	survey := &Survey{Idle: a.idle(c, kind, declared), Unseen: a.notLookedAt()}
	if !known {
		return survey, nil
	}
	survey.Undeclared = sortedProblems(slices.Collect(maps.Values(a.found)))
	survey.Fieldless = slices.DeleteFunc(fieldless(c, dir, kind, declared), func(p fields.Problem) bool {
		return slices.ContainsFunc(survey.Idle, func(idle fields.Problem) bool { return idle.Line == p.Line })
	})
	survey.Unused, survey.Ignored = sortedProblems(a.unused(declared)), a.ignored(kind)
	return survey, nil
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

// analysis executes the templates with abstract values: places among the chart's values.
type analysis struct {
	dir   string
	trees map[string]*parse.Tree
	texts map[string]string // of the files
	done  map[string]bool   // templates with what they were called with
	found map[string]fields.Problem
	marks []mark
	depth int
	// unseen are the templates that were not executed as often as they are called.
	unseen map[string]bool
}

// Templates are executed at most that often, and include each other at most so deep: one that includes itself with a
// part of its argument has no end here, where a value may have parts of any depth.
const (
	mostExecutions = 20_000
	mostDepth      = 64
)

// mark is a path that a template uses; subtree if everything below it is used, too.
type mark struct {
	path    string
	subtree bool
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

// template executes a template once for each distinct argument.
func (a *analysis) template(name string, with value) {
	call := name + " " + with.key()
	tree := a.trees[name]
	if a.done[call] || tree == nil || tree.Root == nil {
		return
	}
	if len(a.done) >= mostExecutions || a.depth >= mostDepth {
		a.unseen[name] = true
		return
	}
	a.done[call] = true
	a.depth++
	defer func() { a.depth-- }()
	e := &execution{analysis: a, tree: tree, variables: &variables{names: map[string]value{"$": with}}}
	e.list(tree.Root, with)
}

// undeclared reports a field that a template uses and that is not declared.
func (a *analysis) undeclared(tree *parse.Tree, at parse.Pos, parent *fields.Place, name string) {
	text := a.texts[tree.ParseName]
	line := 1 + strings.Count(text[:min(int(at), len(text))], "\n")
	field := ".Values" + strings.TrimPrefix(parent.Path()+"."+name, "spec")
	says := fmt.Sprintf("%s is not declared%s", field, parent.DidYouMean(name))
	if !strings.HasSuffix(says, "?") {
		says += ": declare it in " + path.Join(a.dir, fields.Name)
	}
	problem := fields.Problem{File: path.Join(a.dir, tree.ParseName), Line: line, Text: says}
	a.found[problem.Error()] = problem
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

// uses reports whether a template uses a path or anything below it.
func (a *analysis) uses(path string) bool {
	return slices.ContainsFunc(a.marks,
		func(m mark) bool { return m.path == path || m.subtree && within(path, m.path) || within(m.path, path) })
}

// within reports whether a path is below another one.
func within(path, ancestor string) bool {
	rest, below := strings.CutPrefix(path, ancestor)
	return below && rest != "" && (rest[0] == '.' || rest[0] == '[')
}
