// Package history reads what was released of a resource, and computes how to go back to it.
//
// The operator keeps a record of each release (internal/release): a Secret that Helm reads, too, with the spec that it was made of. List decodes
// those of a resource, within bounds, and says what each changed. PlanUndo returns the resource with the spec of a former release; Write stores
// it, and the operator follows. Nothing here touches what was rendered, and records are only read.
package history
