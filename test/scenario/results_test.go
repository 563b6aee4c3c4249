//go:build cluster

package scenario

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// jobPlans is what the names of plans begin with in which runs are counted, those of AppJobs and of release tasks.
const jobPlans = "jobs/"

// jobResults sums up the runs of AppJobs.
type jobResults struct{ plans, twice, overlapped, lost int }

// results sums up the outcomes of all plans.
type results struct {
	mu            sync.Mutex
	plans, missed int
	failed, stuck map[string]bool
	jobs          jobResults
	slowest       time.Duration
	slowestPlan   string
}

// played records a plan, and how long it took from the fault to the end.
func (r *results) played(plan string, struck bool, recovery time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plans++
	if strings.HasPrefix(plan, jobPlans) {
		r.jobs.plans++
	}
	if !struck {
		r.missed++
	}
	if recovery > r.slowest {
		r.slowest, r.slowestPlan = recovery, plan
	}
}

// ran records what was wrong with the runs of an AppJob.
func (r *results) ran(twice int, overlapped, lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs.twice += twice
	if overlapped {
		r.jobs.overlapped++
	}
	if lost {
		r.jobs.lost++
	}
}

// jobLine sums up the plans of AppJobs.
func (r *results) jobLine() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("JOBS plans=%d twice=%d overlapped=%d lost=%d", r.jobs.plans, r.jobs.twice, r.jobs.overlapped, r.jobs.lost)
}

// replays says how to play a plan again.
func replays(plan string) string {
	if strings.HasPrefix(plan, pairPlans) {
		return "again: make test-pairs PLAN=" + plan
	}
	return "again: make test-faults PLAN=" + plan
}

// fail fails a plan, once or several times, and prints how to play it again.
func (r *results) fail(t *testing.T, plan string, stuck bool, format string, args ...any) {
	t.Helper()
	t.Errorf("%s: %s\n  %s", plan, fmt.Sprintf(format, args...), replays(plan))
	if strings.HasPrefix(plan, pairPlans) {
		pairTally.failed(plan)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed, r.stuck = map[string]bool{}, map[string]bool{}
	}
	r.failed[plan] = true
	if stuck {
		r.stuck[plan] = true
	}
}

func (r *results) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := ""
	if r.missed > 0 {
		missed = fmt.Sprintf("%d faults did not come up: the operator wrote less than in the reference.\n", r.missed)
	}
	return missed + fmt.Sprintf("The slowest was %s.\n", r.slowestPlan) + fmt.Sprintf("FAULTS plans=%d failed=%d stuck=%d max_recovery=%.1fs", r.plans, len(r.failed), len(r.stuck), r.slowest.Seconds())
}

// logSink takes the log of all operators and keeps what reports a panic, by namespace.
type logSink struct {
	mu     sync.Mutex
	panics map[string]string
}

var namespaceOf = regexp.MustCompile(`"namespace":"([^"]+)"`)

func (s *logSink) Write(line []byte) (int, error) {
	if *say {
		_, _ = os.Stderr.Write(line)
	}
	if bytes.Contains(line, []byte("panic")) {
		namespace := ""
		if match := namespaceOf.FindSubmatch(line); match != nil {
			namespace = string(match[1])
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.panics == nil {
			s.panics = map[string]string{}
		}
		s.panics[namespace] = string(line)
	}
	return len(line), nil
}

// panicIn returns what was logged about a panic in a namespace.
func (s *logSink) panicIn(namespace string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.panics[namespace]
}
