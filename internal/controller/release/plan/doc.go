// Package plan compares the rendered, the live and the recorded objects of one resource, and decides what is to be done.
//
// Compare makes a Plan from the rendered and the live objects: what is to be created, applied and deleted, and for each
// Change the field that differs. Fields of others stay, and so do the replicas that an autoscaler chose, the size of
// claims that have grown, and what other controllers were invited to add. Decide names the State that follows, and
// ActionOf its action. Differences compares two renderings. Refusals that are known without asking the API server are
// made here, too.
//
// All of it depends on arguments alone: there is no client, no context and no clock, and nothing is read or written.
// Package release carries out the plans.
package plan
