package lint

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/example/appservice-operator/internal/engine/chart"
)

var (
	// before matches the text before an action that writes a whole scalar.
	before = regexp.MustCompile(`(?:^|\n)[ -]*(?:[^\s#:"'{][^\n#"'{]*:|-) +$`)
	// after matches the text after such an action.
	after = regexp.MustCompile(`^[ \t]*(?:\n|\r|$)`)
)

// passing are functions that return their text without quotes; "" is a pipeline that ends without a function.
var passing = []string{"", "default", "coalesce", "required", "trim", "lower", "upper", "trunc", "trimSuffix",
	"trimPrefix", "replace", "toString", "print"}

// unquoted adds the strings of specs that a template writes without quotes: true, 1 or "a: b" would not be read as a
// string.
func (f *findings) unquoted(loaded *helmchart.Chart) {
	for _, file := range slices.Backward(chart.TemplateFiles(loaded)) {
		faults := file.Faults(func(tree *parse.Tree) []chart.Found {
			q := &quotes{chart: file.Chart}
			chart.Inspect(tree.Root, q.list)
			return q.found
		})
		for _, fault := range faults {
			f.addFault(fault)
		}
	}
}

type quotes struct {
	chart *helmchart.Chart
	found []chart.Found
}

func (q *quotes) list(node parse.Node) {
	list, is := node.(*parse.ListNode)
	if !is {
		return
	}
	for i, node := range list.Nodes {
		action, is := node.(*parse.ActionNode)
		if is && i > 0 && before.MatchString(textOf(list.Nodes[i-1])) &&
			(i+1 == len(list.Nodes) || after.MatchString(textOf(list.Nodes[i+1]))) {
			q.action(action)
		}
	}
}

func textOf(node parse.Node) string {
	if text, is := node.(*parse.TextNode); is {
		return string(text.Text)
	}
	return "…" // neither before nor after matches it
}

// action adds an action that writes a string without quotes.
func (q *quotes) action(node *parse.ActionNode) {
	if len(node.Pipe.Decl) > 0 || !slices.Contains(passing, lastFunction(node.Pipe)) {
		return
	}
	for _, argument := range node.Pipe.Cmds[0].Args {
		path := pathOf(argument)
		switch {
		case len(path) == 2 && path[0] == "Release" && (path[1] == "Name" || path[1] == "Namespace"),
			len(path) > 1 && path[0] == "Values" && q.isText(path[1:]):
			q.found = append(q.found, chart.Found{
				At: argument.Position(), Rule: ruleUnquoted, Remedy: "end with | quote, or | toJson",
				Message: fmt.Sprintf(".%s is written without quotes: true, 1 or \"a: b\" would not be read as a string",
					strings.Join(path, ".")),
			})
			return
		}
	}
}

// lastFunction returns the function of the last command of a pipeline; empty if that is a value.
func lastFunction(pipe *parse.PipeNode) string {
	last := pipe.Cmds[len(pipe.Cmds)-1]
	if function, is := last.Args[0].(*parse.IdentifierNode); is {
		return function.Ident
	}
	return ""
}

// pathOf returns the path of a field of the root object, as in Values.image or $.Values.image; nil for other nodes.
func pathOf(node parse.Node) []string {
	switch node := node.(type) {
	case *parse.FieldNode:
		return node.Ident
	case *parse.VariableNode:
		if node.Ident[0] == "$" {
			return node.Ident[1:]
		}
	}
	return nil
}

// isText reports whether a value is a string without an enum, by values.schema.json, or, if that has no type for it, by
// values.yaml.
func (q *quotes) isText(path []string) bool {
	var at map[string]any
	if json.Unmarshal(q.chart.Schema, &at) == nil {
		for _, name := range path {
			properties, _ := at["properties"].(map[string]any)
			at, _ = properties[name].(map[string]any)
		}
		if kind, typed := at["type"]; typed {
			return kind == "string" && at["enum"] == nil
		}
	}
	var value any = q.chart.Values
	for _, name := range path {
		values, _ := value.(map[string]any)
		value = values[name]
	}
	_, isText := value.(string)
	return isText
}
