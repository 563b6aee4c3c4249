// Package plan compares the rendered, live and recorded objects of one resource, and decides what has to be written.
//
// Compare makes a Plan from the rendered and the live objects: which ones to create, apply and delete, and for each
// Change the field that differs. Fields of others stay, and so do the replicas that an autoscaler chose, the size of
// claims that have grown, and what other controllers were invited to add. Decide names the State that follows, and
// ActionOf its action. Differences compares two renderings. Refusals that are known without asking the API server are
// made here, too.
//
// All of it depends on arguments alone: there is no client, no context and no clock, and nothing is read or written.
// Package release carries out the plans.
package plan
