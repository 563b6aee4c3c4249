// Package tree explains the state of one resource: a tree from its conditions over its objects and their pods to
// hints, the steps that are held back and until when, and the origins of values. It also lists the objects of a
// resource.
//
// It reads the cluster once (Collect), with the rights of the user, then builds trees of that, which is pure. Causes in
// pods are found by the operator's own packages; what only the operator can know is in the status. An object that could
// not be read is a gap: the tree names the missing right, and falls back on the status.
package tree
