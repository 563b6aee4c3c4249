// Package lint owns the rules that charts are checked against before they are served: mistakes that the operator
// refuses when it loads or renders a chart, and mistakes that would show later. It renders cases like the operator, and
// reads no cluster. docs/lint.md has a section for each rule.
//
// It checks the fields, types and enums of built-in kinds. It cannot find what only the API server validates: rules
// across fields, and the fields of custom resources.
package lint

import (
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/engine/chart"
)

// Level is the severity of a rule.
type Level string

// An Error breaks the resource itself; a Warning may break it later, or break another resource.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// Rule is a rule for charts. Its ID never changes.
type Rule struct {
	ID    string
	Level Level
	// Title is one line about a chart that breaks the rule.
	Title string
}

// The IDs of the rules that are not checked when a chart is loaded.
const (
	ruleFails          = "does-not-render"
	ruleAPI            = "api-fields"
	ruleUnstable       = "unstable-render"
	ruleSelector       = "selector-changes"
	ruleFixedName      = "fixed-name"
	ruleNamespace      = "other-namespace"
	ruleClusterScoped  = "cluster-scoped"
	rulePodSecurity    = "pod-security"
	ruleRights         = "missing-rights"
	ruleForeign        = "undeclared-kind"
	ruleReady          = "no-ready-rule"
	ruleUnused         = "unused-field"
	ruleIdle           = "unused-value"
	ruleFieldless      = "value-without-field"
	ruleUnseen         = "not-followed"
	ruleUnquoted       = "unquoted-string"
	ruleHelm           = "helm-lint"
	ruleStaleException = "stale-exception"
	rulePublished      = "published-chart"
)

// Rules are all rules, in the order in which they are checked.
var Rules = []Rule{
	{chart.RuleUnusable, Error, "The chart cannot be loaded"},
	{chart.RuleFields, Error, "fields.yaml is invalid"},
	{chart.RuleSyntax, Error, "A template does not parse"},
	{chart.RuleRandom, Error, "A template uses random values or the time"},
	{chart.RuleOutside, Error, "A template reads the cluster or the network"},
	{chart.RuleOrder, Error, "A template uses keys or values in random order"},
	{chart.RuleTpl, Error, "A template runs a value of the spec as a template"},
	{chart.RuleRevision, Error, "A template uses the revision of the release"},
	{chart.RuleHook, Error, "A template renders a Helm hook"},
	{chart.RuleUnwatchable, Error, "A template renders a kind that cannot be watched"},
	{chart.RuleReadyWhen, Error, "An expression of the annotation ready-when is wrong"},
	{chart.RuleRerun, Error, "The annotation rerun-on-change names something that is no field"},
	{chart.RuleStage, Error, "The annotation stage names no stage, or has no effect"},
	{chart.RuleUndeclared, Error, "A template uses a value that is not declared"},
	{ruleUnused, Error, "A field is used by no template"},
	{ruleIdle, Warning, "An entry of values.yaml is used by no template"},
	{ruleFieldless, Warning, "An entry of values.yaml is not a field, so no spec can set it"},
	{ruleUnseen, Warning, "A template includes itself too often to be followed"},
	{ruleUnquoted, Error, "A template writes a string without quotes"},
	{ruleRights, Error, "The operator has no right to write an object of the chart"},
	{ruleForeign, Error, "Chart.yaml does not declare a custom kind"},
	{chart.RuleBadValues, Error, "values.yaml does not match values.schema.json"},
	{ruleFails, Error, "A case does not render"},
	{chart.RuleBounds, Error, "A template exceeds the limits of time, output or depth"},
	{chart.RuleNoYAML, Error, "A template renders something other than an object"},
	{chart.RuleDuplicate, Error, "Two templates render the same object"},
	{ruleAPI, Error, "An object has a field, or a value, that its kind does not have"},
	{ruleNamespace, Error, "An object is rendered into another namespace"},
	{ruleClusterScoped, Warning, "An object is cluster-scoped"},
	{rulePodSecurity, Error, "Pods do not meet the required level of the Pod Security Standards"},
	{ruleReady, Warning, "Nothing defines when an object of a custom kind is ready"},
	{ruleUnstable, Error, "Two renders of the same resource differ"},
	{ruleSelector, Error, "The selector of a workload changes with the spec"},
	{ruleFixedName, Error, "The name of an object is the same for all resources"},
	{ruleHelm, Error, "helm lint --strict reports a problem"},
	{chart.RuleSchemaReference, Warning, "values.schema.json refers to something that is not read"},
	{chart.RuleCRDs, Warning, "The chart has a folder crds, which is not installed"},
	{rulePublished, Warning, "A published chart renders what is refused, or left out"},
	{ruleStaleException, Warning, "An exception of .lint.yaml is not needed"},
}

// page is the address of the page of rules.
const page = "https://github.com/example/appservice-operator/blob/main/docs/lint.md"

// Help returns the address of the rule's section.
func (r Rule) Help() string { return page + "#" + r.ID }

func ruleOf(id string) Rule {
	if at := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id }); at >= 0 {
		return Rules[at]
	}
	return Rule{ID: id, Level: Error, Title: strings.ReplaceAll(id, "-", " ")}
}
