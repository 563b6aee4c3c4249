// Package readywhen owns the annotations by which an object says itself when it is ready: a CEL expression over the live object,
// and another for what the status says meanwhile. Check refuses wrong ones while a chart is loaded or rendered; Of evaluates them.
//
// The language is that of the API server's own rules, less what it does not bound: everybody who may edit a live object may edit
// these annotations, and what they cost is paid by all. An expression has a length, uses functions that make nothing larger than
// the object (bounds.go), and ends when it has cost too much (cost.go). Programs are compiled once and kept, but not all of them:
// templates may put values into expressions. The environment is made when the first expression is seen.
//
// The package reads no cluster, and no clock: the language has none.
package readywhen
