// Package explain says of one resource why it is as it is: a tree from its conditions over its objects and their pods to what to do, what is
// held back and until when, and where values come from. It also lists what a resource became.
//
// It looks once (Look), with whatever rights the user has, and then makes trees of what was found, which is pure. What it says of pods, the
// manager's own packages find; what only the manager can know is in the status. What could not be read is a gap: the tree names the
// right that is missing, and falls back on the status.
package explain
