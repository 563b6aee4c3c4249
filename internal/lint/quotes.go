package lint

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/example/appservice-operator/internal/chart"
)

var (
	// before matches the text before an action that writes a whole scalar.
	before = regexp.MustCompile(`(?:^|\n)[ -]*(?:[^\s#:"'{][^\n#"'{]*:|-) +$`)
	// after matches the text after such an action.
	after = regexp.MustCompile(`^[ \t]*(?:\n|\r|$)`)
)

// passing are functions that return their text without quotes; "" is a pipeline that ends without a function.
var passing = []string{"", "default", "coalesce", "required", "trim", "lower", "upper", "trunc", "trimSuffix", "trimPrefix", "replace", "toString", "print"}

// unquoted adds the strings of specs that a template writes without quotes: true, 1 or "a: b" would not be read as a string.
func (f *findings) unquoted(loaded *helmchart.Chart) {
	for _, file := range slices.Backward(chart.TemplateFiles(loaded)) {
		if strings.HasSuffix(file.Name, "NOTES.txt") {
			continue
		}
		trees := map[string]*parse.Tree{}
		tree := parse.New("file")
		tree.Mode = parse.SkipFuncCheck
		if _, err := tree.Parse(file.Text, "", "", trees); err != nil {
			continue // other checks report syntax errors
		}
		q := &quotes{chart: file.Chart}
		for _, each := range trees {
			if each.Root != nil {
				q.list(each.Root)
			}
		}
		slices.SortFunc(q.found, func(a, b unquotedText) int { return int(a.at - b.at) })
		_, below, _ := strings.Cut(file.Name, "/")
		for _, each := range q.found {
			at := min(int(each.at), len(file.Text))
			f.addFault(&chart.Fault{
				Rule: ruleUnquoted, File: below, Text: file.Text,
				Line: 1 + strings.Count(file.Text[:at], "\n"), Column: at - strings.LastIndexByte(file.Text[:at], '\n'),
				Message: fmt.Sprintf("%s is written without quotes: true, 1 or \"a: b\" would not be read as a string", each.what),
				Remedy:  "end with | quote, or | toJson",
			})
		}
	}
}

type unquotedText struct {
	at   parse.Pos
	what string
}

type quotes struct {
	chart *helmchart.Chart
	found []unquotedText
}

func (q *quotes) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	for i, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.IfNode:
			q.list(node.List)
			q.list(node.ElseList)
		case *parse.WithNode:
			q.list(node.List)
			q.list(node.ElseList)
		case *parse.RangeNode:
			q.list(node.List)
			q.list(node.ElseList)
		case *parse.ActionNode:
			if i > 0 && before.MatchString(textOf(list.Nodes[i-1])) && (i+1 == len(list.Nodes) || after.MatchString(textOf(list.Nodes[i+1]))) {
				q.action(node)
			}
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
		case len(path) == 2 && path[0] == "Release" && (path[1] == "Name" || path[1] == "Namespace"), len(path) > 1 && path[0] == "Values" && q.isText(path[1:]):
			q.found = append(q.found, unquotedText{argument.Position(), "." + strings.Join(path, ".")})
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

// isText reports whether a value is a string without an enum, by values.schema.json, or, if that has no type for it, by values.yaml.
func (q *quotes) isText(path []string) bool {
	var at map[string]any
	if json.Unmarshal(q.chart.Schema, &at) == nil {
		for _, name := range path {
			properties, _ := at["properties"].(map[string]any)
			at, _ = properties[name].(map[string]any)
		}
		if kind, says := at["type"]; says {
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
