package chart

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chart"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// The output of templates must be a function of the values and of the cluster's capabilities: anything that differs
// between renders would cause another release each time. Templates never read the cluster, and a release is never
// installed twice.

// forbidden are functions that templates may not use, and why.
var forbidden = map[string]reason{
	"now": {RuleRandom, clock, "take a time from the spec"},
	"ago": {RuleRandom, clock, "take a duration from the spec"},
	"lookup": {RuleOutside, "templates of this operator cannot read the cluster, so the function finds nothing",
		"take it from the spec, or refer to the object by its name; " + made},
	"getHostByName": {RuleOutside, "templates of this operator cannot reach the network, so the function finds nothing",
		"use the name itself: pods resolve it"},
}

type reason struct{ rule, why, remedy string }

const (
	clock  = "reads the clock, so each render differs"
	random = "random, so each render differs"
	made   = "have the operator make a value once: annotate its Secret with " + v1.AnnotationGenerate +
		`: "KEY=32", and leave the key out`
)

func init() {
	for remedy, names := range map[string][]string{
		made: {"randAlpha", "randAlphaNum", "randAscii", "randBytes", "randNumeric", "uuidv4"},
		"use cert-manager or an existing Secret": {"genCA", "genCAWithKey", "genSelfSignedCert",
			"genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey"},
		"refer to a Secret that holds it, or take it from the spec": {"randInt", "shuffle", "bcrypt", "encryptAES",
			"htpasswd", "genPrivateKey"},
	} {
		for _, name := range names {
			forbidden[name] = reason{RuleRandom, random, remedy}
		}
	}
}

// fixed are fields of .Release that have the same value in every render.
var fixed = []string{"IsInstall", "IsUpgrade", "Revision"}

// calming are functions of a list whose result does not depend on its order.
var calming = []string{"sortAlpha", "len", "has", "empty", "not"}

// hookLine matches a Helm hook that is written literally in a template.
var hookLine = regexp.MustCompile(`(?m)["']?helm\.sh/hook["']?\s*:[ \t]*["']?([a-z][a-z,\- ]*)`)

// Found is what was found at a position of a template.
type Found struct {
	At                    parse.Pos
	Rule, Message, Remedy string
}

// CheckTree returns what a parsed template may not use: functions that differ between renders, facts that no
// render has, templates in values, Helm hooks.
func CheckTree(tree *parse.Tree) []Found {
	if tree == nil || tree.Root == nil {
		return nil
	}
	c := &checker{}
	Inspect(tree.Root, c.node)
	return c.found
}

type checker struct {
	found []Found
	// sorted are commands whose result is used without regard to its order.
	sorted []*parse.CommandNode
}

func (c *checker) add(rule string, at parse.Node, remedy, message string, args ...any) {
	c.found = append(c.found, Found{At: at.Position(), Rule: rule, Message: fmt.Sprintf(message, args...), Remedy: remedy})
}

// node checks a node without those below it.
func (c *checker) node(node parse.Node) {
	switch node := node.(type) {
	case *parse.TextNode:
		c.text(node)
	case *parse.IdentifierNode:
		if why, found := forbidden[node.Ident]; found {
			c.add(why.rule, node, why.remedy, "uses %s: %s", node.Ident, why.why)
		}
	case *parse.PipeNode:
		for i, command := range node.Cmds {
			c.call(command, node.Cmds[i+1:])
		}
	case *parse.ChainNode:
		c.path(node, node.Field)
	case *parse.FieldNode:
		c.path(node, node.Ident)
	case *parse.VariableNode:
		c.path(node, node.Ident[1:])
	}
}

// call checks the function that a command calls, whose result is passed to the next commands.
func (c *checker) call(command *parse.CommandNode, next []*parse.CommandNode) {
	switch name := functionOf(command); name {
	case "tpl":
		if len(command.Args) < 2 || !ofChart(command.Args[1]) {
			c.add(RuleTpl, command, "give it a file of the chart, as in tpl (.Files.Get \"name\") ., or a text that stands in the template",
				"uses tpl on a value: text of the spec would run as a template")
		}
	case "keys", "values":
		if !slices.Contains(c.sorted, command) && !slices.ContainsFunc(next, calms) {
			c.add(RuleOrder, command, "range over the map itself, which goes by its keys, or sort: "+name+" … | sortAlpha",
				"uses %s: their order is random", name)
		}
	}
	if calms(command) {
		for _, arg := range command.Args[1:] { // sortAlpha (keys .)
			if nested, isPipe := arg.(*parse.PipeNode); isPipe {
				c.sorted = append(c.sorted, nested.Cmds[len(nested.Cmds)-1])
			}
		}
	}
}

func calms(command *parse.CommandNode) bool { return slices.Contains(calming, functionOf(command)) }

// functionOf returns the function that a command calls; empty for none.
func functionOf(command *parse.CommandNode) string {
	if len(command.Args) > 0 {
		if identifier, isFunction := command.Args[0].(*parse.IdentifierNode); isFunction {
			return identifier.Ident
		}
	}
	return ""
}

// ofChart reports whether a node is a text of the chart: a constant, or made of .Files.
func ofChart(node parse.Node) bool {
	switch node := node.(type) {
	case *parse.StringNode:
		return true
	case *parse.FieldNode:
		return node.Ident[0] == "Files"
	case *parse.VariableNode:
		return len(node.Ident) > 1 && node.Ident[1] == "Files"
	case *parse.ChainNode:
		return ofChart(node.Node)
	case *parse.PipeNode:
		return len(node.Decl) == 0 && len(node.Cmds) == 1 && len(node.Cmds[0].Args) > 0 && ofChart(node.Cmds[0].Args[0])
	}
	return false
}

// path checks a chain of fields.
func (c *checker) path(node parse.Node, fields []string) {
	if len(fields) > 1 && fields[0] == "Release" && slices.Contains(fixed, fields[1]) {
		c.add(RuleRevision, node, "leave it out",
			"uses .Release.%s, which is the same in every render: there are no revisions to tell apart", fields[1])
	}
}

// text looks for hooks in the literal text of a template.
func (c *checker) text(node *parse.TextNode) {
	for _, match := range hookLine.FindAllSubmatchIndex(node.Text, -1) {
		event := strings.TrimSpace(string(node.Text[match[2]:match[3]]))
		if event == "test" || event == "test-success" {
			continue
		}
		before := node.Text[:match[0]]
		line := string(before[strings.LastIndexByte(string(before), '\n')+1:])
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		c.found = append(c.found, Found{
			At:      node.Pos + parse.Pos(match[0]),
			Rule:    RuleHook,
			Message: fmt.Sprintf("makes a Helm hook (%s), which this operator does not run", event),
			Remedy:  InsteadOfHook(event),
		})
	}
}

// InsteadOfHook says what to write in place of a list of Helm hooks.
func InsteadOfHook(events string) string {
	of := stage.OfHook(events)
	if of == "" {
		return "remove the annotation helm.sh/hook: no stage of a release takes the place of " + events +
			", and objects are applied in Helm's order of kinds"
	}
	if of == stage.After {
		return fmt.Sprintf("on a Job, write %s: %s and %s: %q in place of helm.sh/hook, so that it runs once for each change of what it runs, when the release is Ready; on any other object, nothing",
			v1.AnnotationStage, of, v1.AnnotationRerun, "true")
	}
	return fmt.Sprintf("write %s: %s in place of helm.sh/hook, and on a Job %s: %q, so that it runs once for each change of what it runs",
		v1.AnnotationStage, of, v1.AnnotationRerun, "true")
}

// checkTemplates returns the mistakes in the templates of a chart and of its subcharts.
func checkTemplates(c *chart.Chart) []error {
	var faults []error
	for _, file := range slices.Backward(TemplateFiles(c)) {
		for _, fault := range file.Faults(CheckTree) {
			faults = append(faults, fault)
		}
	}
	return faults
}

// Faults parses the file, which is known to parse, and returns what a check of its trees finds, in order.
func (t *Template) Faults(check func(*parse.Tree) []Found) []*Fault {
	if strings.HasSuffix(t.Name, "NOTES.txt") {
		return nil // its output is not used
	}
	trees := map[string]*parse.Tree{}
	tree := parse.New("file")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(t.Text, "", "", trees); err != nil {
		return nil
	}
	var found []Found
	for _, defined := range trees {
		found = append(found, check(defined)...)
	}
	slices.SortFunc(found, func(a, b Found) int { return int(a.At) - int(b.At) })
	faults := make([]*Fault, 0, len(found))
	for _, each := range found {
		at := min(int(each.At), len(t.Text))
		faults = append(faults, &Fault{
			Rule: each.Rule, File: inside(*t), Text: t.Text, Message: each.Message, Remedy: each.Remedy,
			Line: 1 + strings.Count(t.Text[:at], "\n"), Column: at - strings.LastIndexByte(t.Text[:at], '\n'),
		})
	}
	return faults
}
