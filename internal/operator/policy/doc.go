// Package policy owns what the platform allows workloads and routes of a namespace: the rules, the file that sets them,
// the built-in policies, and how entries for namespaces are laid over it. Rendered objects are checked against the
// rules, so that no field of a spec, chart, default or patch of pods can bypass them.
//
// It reads no cluster. A Policy is an immutable value, and so are the Rules of a namespace: reading a file again
// returns another Policy, and a reconcile that takes it once uses the same one throughout. Which resource serves a host
// is decided by internal/operator/hosts; here is only which hosts a namespace may use.
package policy
