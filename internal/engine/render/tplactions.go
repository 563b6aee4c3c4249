package render

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// An action is what stands between {{ and }}: a keyword and its pipeline, as text/template prints them. Trim marks and
// white space do not count.

// ActionError says that a text, which a published chart gives to tpl, has an action that is not the chart's.
type ActionError struct{ Action string }

func (e *ActionError) Error() string {
	return fmt.Sprintf("tpl would execute {{ %s }}, which is not in the chart", e.Action)
}

// trusted are the actions that tpl executes for a published chart: those in its values, constants and files, and in the
// settings of watches.yaml.
type trusted map[string]bool

// apart are the folders of a chart whose files are about it, and no part of it.
var apart = []string{"ci", "tests", "test", "unittests", "docs", "examples", "crds", ".github"}

// actionsOf returns the trusted actions of a chart with the settings of its entry in watches.yaml.
func actionsOf(c *chart.Chart, defaults map[string]any, overrides map[string]string) trusted {
	t := trusted{}
	t.chart(c)
	t.value(defaults)
	for key, value := range overrides {
		t.text(key)
		t.text(value)
	}
	return t
}

func (t trusted) chart(c *chart.Chart) {
	t.value(c.Values)
	for _, file := range c.Files {
		folder, _, _ := strings.Cut(file.Name, "/")
		if !slices.Contains(apart, folder) && !strings.Contains(path.Base(file.Name), ".md") {
			t.text(string(file.Data))
		}
	}
	for _, file := range c.Templates {
		trees := treesOf(string(file.Data))
		for _, tree := range trees {
			appchart.Inspect(tree.Root, func(node parse.Node) {
				if constant, is := node.(*parse.StringNode); is {
					t.text(constant.Text)
				}
			})
		}
	}
	for _, dependency := range c.Dependencies() {
		t.chart(dependency)
	}
}

// value adds the texts in a value, and its keys.
func (t trusted) value(value any) {
	switch value := value.(type) {
	case string:
		t.text(value)
	case []any:
		for _, item := range value {
			t.value(item)
		}
	case map[string]any:
		for key, item := range value {
			t.text(key)
			t.value(item)
		}
	}
}

// text adds the actions in a text. It may be a part of a template, as in cat "{{- with .a }}" $text "{{- end }}".
func (t trusted) text(text string) {
	if !strings.Contains(text, "{{") {
		return
	}
	for _, tree := range treesOf(text) {
		if tree.Name != anonymous {
			t[definition(tree)] = true
		}
		for _, action := range actionsIn(tree) {
			t[action] = true
		}
	}
	for _, part := range parts(text) {
		for _, tree := range treesOf(part) {
			for _, action := range actionsIn(tree) {
				t[action] = true
			}
		}
	}
}

// check returns an ActionError if a parsed text, or a template that it defines, has an action that is not trusted.
func (t trusted) check(tree *parse.Tree, defined []*parse.Tree) error {
	for _, action := range actionsIn(tree) {
		if !t[action] {
			return &ActionError{action}
		}
	}
	for _, tree := range defined {
		if !t[definition(tree)] {
			return &ActionError{fmt.Sprintf("define %q", tree.Name)}
		}
	}
	return nil
}

// definition returns the template that a tree defines, as it stands.
func definition(tree *parse.Tree) string { return fmt.Sprintf("define %q %s", tree.Name, tree.Root) }

// anonymous is the name of a text that is not a definition.
const anonymous = "\x00"

// treesOf parses a text; nil if it is no template.
func treesOf(text string) []*parse.Tree {
	trees := map[string]*parse.Tree{}
	tree := parse.New(anonymous)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil
	}
	return slices.Collect(maps.Values(trees))
}

// actionsIn returns the actions of a tree, without those that show nothing: else, end, break, continue,
// comments, and an output that is one constant.
func actionsIn(tree *parse.Tree) (list []string) {
	appchart.Inspect(tree.Root, func(node parse.Node) {
		switch node := node.(type) {
		case *parse.ActionNode:
			if !isConstant(node.Pipe) {
				list = append(list, node.Pipe.String())
			}
		case *parse.IfNode:
			list = append(list, "if "+node.Pipe.String())
		case *parse.RangeNode:
			list = append(list, "range "+node.Pipe.String())
		case *parse.WithNode:
			list = append(list, "with "+node.Pipe.String())
		case *parse.TemplateNode:
			list = append(list, strings.TrimSuffix(strings.TrimPrefix(node.String(), "{{"), "}}"))
		}
	})
	return list
}

func isConstant(pipe *parse.PipeNode) bool {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	switch pipe.Cmds[0].Args[0].(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode:
		return true
	}
	return false
}

var (
	// actionText matches an action without comments and trim marks; quoted texts in it may hold braces.
	actionText = regexp.MustCompile("(?s)\\{\\{(?:-\\s)?\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'(?:[^'\\\\]|\\\\.)*'|[^\"`'}]|\\}[^}])*?)\\s*(?:\\s-)?\\}\\}")
	variable   = regexp.MustCompile(`\$[A-Za-z_]\w*`)
	opens      = regexp.MustCompile(`^(if|with|range)\s`)
	elseBranch = regexp.MustCompile(`^else\s+(if|with)\s`)
)

// parts returns the actions of a text that is a part of a template, each as a text that is one.
func parts(text string) (list []string) {
	for _, match := range actionText.FindAllStringSubmatch(text, -1) {
		action := elseBranch.ReplaceAllString(match[1], "$1 ")
		template := "{{" + action + "}}"
		if opens.MatchString(action) {
			template += "{{end}}"
		}
		for _, name := range variable.FindAllString(action, -1) {
			template = "{{" + name + " := 0}}" + template // else it does not parse
		}
		list = append(list, template)
	}
	return list
}

// fieldWith returns the field of a spec, as the API spells it, whose text has an action; empty if none has it.
func fieldWith(spec map[string]any, action string) string {
	field := ""
	var look func(path []string, value any)
	look = func(path []string, value any) {
		switch value := value.(type) {
		case string:
			if field == "" && strings.Contains(value, "{{") {
				found := trusted{}
				found.text(value)
				for each := range found {
					if each == action || strings.HasPrefix(each, action+" ") { // a definition, with its text
						field = fieldOf(spec, path)
					}
				}
			}
		case []any:
			for i, item := range value {
				look(below(path, fmt.Sprint(i)), item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				look(below(path, key), key)
				look(below(path, key), value[key])
			}
		}
	}
	look(nil, map[string]any(spec))
	return field
}

// notTrusted says what to do about an action in a spec.
func notTrusted(field, action string, kind schema.GroupVersionKind) error {
	return fmt.Errorf("%s: the chart would execute {{ %s }} as a template, and only its own text may be one: write out "+
		"what it stands for, write {{ \"{{\" }} for two braces, or ask the platform team for templatesInSpec: true of %s "+
		"in watches.yaml", field, shortened(action), kind.Kind)
}

// shortened returns the beginning of a long text.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}
