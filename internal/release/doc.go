// Package release brings the objects of one resource to what was rendered, and keeps the Helm release that records it.
//
// Data passes through it one way: Compare makes a Plan from what is rendered and what is there, Decide names the State,
// and Actor carries out the action of that state: install, upgrade, resume or repair. Its method Write carries out the
// plan with server-side apply, and never writes to what belongs to somebody else; Record then keeps the release in Helm's
// own encoding, so that `helm list` and `helm get` work.
//
// A crash at any point leaves objects that differ from what is rendered, or a record that is missing. Either is a state like
// any other for the next process.
package release
