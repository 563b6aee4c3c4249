// Package history reads the releases of a resource, and computes how to roll back to one of them.
//
// The operator keeps a record of each release (internal/engine/release): a Secret that Helm reads, too, with the
// spec that it was made from. List decodes those of a resource, within limits, with the changes of each. PlanUndo
// returns the resource with the spec of a former release; Write stores it, and the operator reconciles it. Rendered
// objects are not touched, and records are only read.
package history
