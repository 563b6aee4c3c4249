package chart

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chart"
)

// Template is a file with templates.
type Template struct {
	// Name is the path with the names of the charts that it is in, as Helm has it: web/charts/sub/templates/a.yaml.
	Name string
	Text string
	// Chart is the chart, or subchart, that contains the file.
	Chart *chart.Chart
}

// Partial reports whether the file only defines templates that others include.
func (t *Template) Partial() bool { return strings.HasPrefix(path.Base(t.Name), "_") }

// TemplateFiles lists those of a chart and its subcharts in the order in which Helm parses them: of two definitions of
// a name, the one in the file closer to the root wins.
func TemplateFiles(c *chart.Chart) []Template {
	var list []Template
	var add func(c *chart.Chart)
	add = func(c *chart.Chart) {
		for _, file := range c.Templates {
			t := Template{Name: path.Join(c.ChartFullPath(), file.Name), Text: string(file.Data), Chart: c}
			if t.Partial() || !strings.EqualFold(c.Metadata.Type, "library") {
				list = append(list, t)
			}
		}
		for _, dependency := range c.Dependencies() {
			add(dependency)
		}
	}
	add(c)
	slices.SortFunc(list, func(a, b Template) int {
		return -cmp.Or(strings.Count(a.Name, "/")-strings.Count(b.Name, "/"), strings.Compare(a.Name, b.Name))
	})
	return list
}

// Parse parses the templates of a chart and its subcharts with Helm's functions. The error is a Fault.
func Parse(c *chart.Chart) (*template.Template, error) {
	all := template.New("gotpl").Option("missingkey=zero").Funcs(Functions())
	for _, file := range TemplateFiles(c) {
		if _, err := all.New(file.Name).Parse(file.Text); err != nil {
			return nil, parseFault(err, inside(file), file.Text)
		}
	}
	return all, nil
}

// Inspect calls visit for a node and for all below it.
func Inspect(node parse.Node, visit func(parse.Node)) {
	visit(node)
	switch node := node.(type) {
	case *parse.ListNode:
		for _, child := range node.Nodes {
			Inspect(child, visit)
		}
	case *parse.ActionNode:
		Inspect(node.Pipe, visit)
	case *parse.TemplateNode:
		if node.Pipe != nil {
			Inspect(node.Pipe, visit)
		}
	case *parse.IfNode:
		inspectBranch(&node.BranchNode, visit)
	case *parse.RangeNode:
		inspectBranch(&node.BranchNode, visit)
	case *parse.WithNode:
		inspectBranch(&node.BranchNode, visit)
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			Inspect(command, visit)
		}
	case *parse.CommandNode:
		for _, argument := range node.Args {
			Inspect(argument, visit)
		}
	case *parse.ChainNode:
		Inspect(node.Node, visit)
	}
}

func inspectBranch(branch *parse.BranchNode, visit func(parse.Node)) {
	Inspect(branch.Pipe, visit)
	Inspect(branch.List, visit)
	if branch.ElseList != nil {
		Inspect(branch.ElseList, visit)
	}
}

// inside returns the path of a file without the name of the chart that contains it: charts/sub/templates/a.yaml.
func inside(file Template) string {
	_, below, _ := strings.Cut(file.Name, "/")
	return below
}

var (
	// parseError matches the parse errors of text/template, which has no fields for their place.
	parseError = regexp.MustCompile(`(?s)^template: .+?:(\d+): (.*)$`)
	quotedWord = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|<(.*?)>`)
)

// parseFault returns where a template does not parse. Package text/template knows the line: the column is that of the
// word that its message quotes, else of the first action of the line.
func parseFault(err error, file, text string) error {
	match := parseError.FindStringSubmatch(err.Error())
	if match == nil {
		return &Fault{Rule: RuleSyntax, File: file, Message: err.Error()}
	}
	fault := &Fault{Rule: RuleSyntax, File: file, Message: match[2], Text: text}
	fault.Line, _ = strconv.Atoi(match[1]) // it is digits
	lines := strings.Split(text, "\n")
	if fault.Line < 1 || fault.Line > len(lines) {
		return fault
	}
	shown := lines[fault.Line-1]
	action := max(0, strings.Index(shown, "{{"))
	fault.Column = action + 1
	for _, match := range quotedWord.FindAllStringSubmatch(fault.Message, -1) {
		word := match[1] + match[2]
		if at := strings.Index(shown[action:], word); at >= 0 && word != "" {
			fault.Column = action + at + 1
			break
		}
	}
	return fault
}
