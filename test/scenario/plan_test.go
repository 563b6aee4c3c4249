//go:build cluster

package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/part"
)

// plan is one run with a fault. Its name plays it again.
type plan struct {
	campaign string
	scenario scenario
	number   int // of the point
	point    harness.Point
	fault    harness.FaultKind
	again    bool // it dies a second time, at its first request after that
}

func (p plan) name() string {
	name := fmt.Sprintf("%s/%s/%d/%s", p.campaign, p.scenario.name, p.number, p.fault)
	if p.again {
		name += "-again"
	}
	if p.scenario.counted() {
		return jobPlans + name
	}
	return name
}

// dies reports whether the plan needs an operator of its own.
func (p plan) dies() bool { return p.campaign == "T1" }

var (
	deaths = []harness.FaultKind{harness.DiesBefore, harness.DiesAfter}
	errors = []harness.FaultKind{
		harness.Lost, harness.Committed, harness.Forbidden, harness.Conflict, harness.TooMany, harness.Internal, harness.Overloaded, harness.Slow,
	}
	// asked are the faults of a dry run.
	asked = []harness.FaultKind{harness.Lost, harness.Forbidden, harness.Conflict, harness.Internal}
)

// plansOf lists the plans of a scenario with these points, in order.
func plansOf(w scenario, points []harness.Point) []plan {
	var plans []plan
	for i, point := range points {
		for _, fault := range deaths {
			if !point.DryRun {
				plans = append(plans, plan{campaign: "T1", scenario: w, number: i + 1, point: point, fault: fault})
			}
			if i%3 == 0 && !point.DryRun {
				plans = append(plans, plan{campaign: "T1", scenario: w, number: i + 1, point: point, fault: fault, again: true})
			}
		}
		for _, fault := range errors {
			if point.DryRun && !slices.Contains(asked, fault) {
				continue
			}
			plans = append(plans, plan{campaign: "T2", scenario: w, number: i + 1, point: point, fault: fault})
		}
	}
	return plans
}

// pointsOf returns the points that two runs have in common, in the order of the first. Status writes come last: their number may differ, since it
// also depends on the Deployment controller.
func pointsOf(first, second []harness.Point) []harness.Point {
	var points, status []harness.Point
	for _, point := range first {
		switch {
		case !slices.Contains(second, point):
		case strings.HasSuffix(point.Target, "/status"):
			status = append(status, point)
		default:
			points = append(points, point)
		}
	}
	return append(points, status...)
}

// chosen reports whether the flags select the n-th plan, and PART has it.
func chosen(name string, n int) bool {
	return selected(name) && n%*every == 0 && part.Has(n / *every)
}

// selected reports whether the flags select a name.
func selected(name string) bool {
	return *only == "" || slices.ContainsFunc(strings.Split(*only, ","), func(one string) bool {
		return name == one || strings.HasPrefix(name, strings.TrimSuffix(one, "/")+"/")
	})
}

// needed reports whether the flags may select a plan of a scenario.
func needed(w scenario) bool {
	if w.once {
		return false
	}
	return slices.ContainsFunc(strings.Split(*only, ","), func(one string) bool {
		parts := strings.Split(one, "/")
		if ofJobs := parts[0] == strings.TrimSuffix(jobPlans, "/"); *only != "" && ofJobs != w.counted() {
			return false
		} else if ofJobs {
			parts = parts[1:]
		}
		return len(parts) < 2 || w.name == parts[1] || len(parts) == 2 && strings.HasPrefix(w.name, parts[1])
	})
}
