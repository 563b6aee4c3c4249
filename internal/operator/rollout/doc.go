// Package rollout owns how a new chart, new defaults, or a new version of the operator reach resources that already
// run: a few at a time.
//
// Rollouts is the line of one kind. A resource whose pods would restart although its user changed nothing takes one of
// a few places, and gives it back once as many replicas of the new revision are available as were available before, or
// at a deadline: then it counts as failed. A few failures in a namespace halt that namespace, as many in several
// namespaces all of them.
//
// That a resource has begun is a label of its release record (Rollout), so that a restart loses nothing. The package
// reads no cluster and writes none.
package rollout
