// Package fleet owns how a new chart, or a new version of the operator, reaches existing resources: it cannot take all of them down.
//
// A Gate controls the changes of resources of a kind whose users changed nothing. It is closed until each was rendered with the chart,
// which is the first step of every reconcile; the result is recorded, and nothing is written. It stays closed if that failed for some, and
// closes again if more than a few of the resources that the chart has changed do not become ready. A resource that is held back keeps the
// recorded release. Others wait in one queue, Rollouts, which limits how many change at a time. Changes by users pass both.
//
// No state has to be stored: the record of each resource shows what rendered it, and whether a chart or its user asked for that.
// The package reads no cluster and writes none.
package fleet
