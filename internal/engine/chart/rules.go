package chart

// Rules that charts are checked against while they are loaded and rendered. Errors name the rule; docs/lint.md explains
// each, and internal/plugin/lint has the others.
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
	RuleRerun      = "rerun-on-change"
	RuleStage      = "stage"
	RuleFields     = "fields-file"
	RuleNoYAML     = "no-yaml"
	RuleBounds     = "beyond-bounds"
	RuleDuplicate  = "duplicate-object"
	RuleBadValues  = "values-schema"
	RuleUndeclared = "undeclared-value"

	RuleSchemaReference = "schema-reference"
	RuleCRDs            = "crds-folder"
	RuleUnwatchable     = "unwatchable-kind"
)
