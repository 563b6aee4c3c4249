// Package readywhen owns the annotations by which an object defines when it is ready: a CEL expression over the live
// object, and another for the status message meanwhile. Check refuses invalid ones while a chart is loaded or rendered;
// Of evaluates them.
//
// The language is that of the API server's own rules, without what it does not limit: anyone who may edit a live object
// may edit these annotations, and everybody shares their cost. An expression has a maximum length, uses functions whose
// results are no larger than the object (bounds.go), and is stopped when it has cost too much (cost.go). Compiled
// programs are cached, but not all of them: templates may put values into expressions. The environment is created when
// the first expression is compiled.
//
// The package reads no cluster, and no clock: the language has none.
package readywhen
