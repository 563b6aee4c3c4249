// Package policy owns what the platform allows the workloads and routes of a namespace to be: the rules, the file that says them, the
// default that is part of the program, and how entries for namespaces are laid over it. The rules are held against rendered objects, so that
// no field of a spec, chart, default or patch of pods passes them by.
//
// It reads no cluster. A Policy is a value that never changes, and so are the Rules of a namespace: a file that is read again is another
// Policy, and whoever takes it once per reconcile uses one of them all the way. Who serves which host, internal/hosts decides; here is only
// which hosts a namespace may use.
package policy
