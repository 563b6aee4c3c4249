// Package release brings the objects of one resource to the rendered state, and keeps the Helm release that records it.
//
// Data passes through it one way: package plan compares and decides, without a client, and Actor carries out the action
// of the state: install, upgrade, resume or repair. Its method Write carries out the plan with server-side apply, and
// never writes to objects of other owners; Record then stores the release in Helm's own encoding, so that `helm list`
// and `helm get` work. Adoption, Jobs and dry runs, which need the API server as well, are here, too.
//
// A crash at any point leaves objects that differ from the rendered ones, or a record that is missing. Either is an
// ordinary state for the next process.
package release

import "github.com/example/appservice-operator/internal/engine/kube"

// FieldManager owns the fields that the operator writes.
const FieldManager = kube.FieldManager
