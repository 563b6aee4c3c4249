package chart

// Rules that charts are held to while they are loaded and rendered. What breaks one names it; docs/lint has a page of each, and internal/lint
// has the others.
const (
	RuleUnusable   = "chart-unusable"
	RuleSyntax     = "template-syntax"
	RuleRandom     = "random-or-time"
	RuleOutside    = "reads-outside"
	RuleOrder      = "random-order"
	RuleTpl        = "tpl-on-value"
	RuleRevision   = "release-revision"
	RuleHook       = "helm-hook"
	RuleReadyWhen  = "ready-when"
	RuleFields     = "fields-file"
	RuleNoYAML     = "no-yaml"
	RuleBounds     = "beyond-bounds"
	RuleDuplicate  = "duplicate-object"
	RuleBadValues  = "values-schema"
	RuleUndeclared = "undeclared-value"
)
