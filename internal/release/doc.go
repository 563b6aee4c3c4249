// Package release brings the objects of one resource to what was rendered, and keeps the Helm release that records it.
//
// Data passes through it one way: Compare makes a Plan from what is rendered and what is there, Decide names the State,
// and Actor.Act carries out the action of that state, one file each: install, upgrade, resume, repair. Every action checks
// the plan (nothing that belongs to somebody else is ever written), and writes it with server-side apply. Helm, through
// the action client of helm-operator-plugins, keeps the records: `helm list`, `helm history` and `helm get` work.
//
// A crash at any point leaves a record that is not deployed, or objects that differ from what is rendered. Either is a
// state like any other for the next process: the same record is resumed, never a second one begun.
package release
