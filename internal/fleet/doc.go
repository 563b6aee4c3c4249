// Package fleet owns how a new chart, or a new version of the operator, comes to the resources that exist: it cannot take all of them down.
//
// A Gate stands before the resources of a kind whose users changed nothing. It is closed until each of them was rendered with the chart,
// which every reconcile does first of all; what was found is noted, and nothing is written. It stays closed if that failed for some, and
// closes again if more than a few of those that the chart came to do not become ready. Who is held back keeps the release that its record
// holds. Those that may go on stand in one line, Rollouts, which bounds how many change at a time. What users ask for passes both.
//
// Nothing of it has to be remembered: the record of each resource says what rendered it, and whether a chart or its user asked for that.
// The package reads no cluster and writes none.
package fleet
