package usedvalues

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// analysis executes the templates with abstract values: places among the chart's values.
type analysis struct {
	dir   string
	trees map[string]*parse.Tree
	texts map[string]string // of the files
	done  map[string]bool   // templates, each with its argument
	found map[string]fields.Problem
	marks []mark
	depth int
	// unseen are the templates that were not executed as often as they are called.
	unseen map[string]bool
}

// mark is a path that a template uses; subtree if everything below it is used, too.
type mark struct {
	path    string
	subtree bool
}

// execution is the abstract execution of one template.
type execution struct {
	*analysis
	tree      *parse.Tree
	variables *variables
}

// variables are the variables of a block; outer are those of the enclosing block.
type variables struct {
	names map[string]value
	outer *variables
}

// variable returns the variables of the innermost block that has one of a name; nil if none has.
func (e *execution) variable(name string) map[string]value {
	for block := e.variables; block != nil; block = block.outer {
		if _, there := block.names[name]; there {
			return block.names
		}
	}
	return nil
}

// member returns the value at a path of names below a value, and reports names that are not declared.
func (e *execution) member(of value, names []string, at parse.Pos) value {
	for _, name := range names {
		switch {
		case of.parts != nil:
			of = of.parts[name]
		case of.at != nil:
			field, declared := of.at.Field(name)
			if !declared {
				e.undeclared(e.tree, at, of.at, name)
				return value{}
			}
			of = value{at: &field}
		default:
			return value{}
		}
	}
	return of
}

// use marks a value and everything below it as used.
func (e *execution) use(of value) {
	if of.at != nil {
		e.marks = append(e.marks, mark{of.at.Path(), true})
	}
	for _, part := range of.parts {
		e.use(part)
	}
}

// touch marks a value itself as used, but nothing below it.
func (e *execution) touch(of value) {
	if of.at != nil {
		e.marks = append(e.marks, mark{of.at.Path(), false})
	}
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
