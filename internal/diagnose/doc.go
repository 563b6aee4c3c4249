// Package diagnose says why a workload, whatever its kind, is not as desired: from what was found of its pods and of what they depend on it
// makes causes, each with a reason, a message and a hint. It is pure: what there is, it takes as Findings, and the same
// findings give the same causes.
//
// Pods of the present version decide, so that a rollout is explained while an earlier version still serves. Messages do
// not churn: equal causes of several pods are one, restarts are counted in steps, times and names of pods are left out, and
// Steady keeps the earlier words where only numbers in them differ.
package diagnose
