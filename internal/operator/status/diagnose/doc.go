// Package diagnose returns why a workload of any kind is not as desired: from what was found of its pods and of what
// they depend on it derives causes, each with a reason, a message and a hint. It is pure: it takes the state of the
// cluster as Findings, and the same findings result in the same causes.
//
// Only pods of the present version count, so that a rollout is explained while an earlier version still serves.
// Messages do not churn: equal causes of several pods are merged, restarts are counted in steps, times and names of
// pods are left out, and Steady keeps the earlier message if only numbers in it differ.
package diagnose
