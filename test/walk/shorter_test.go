//go:build cluster

package walk

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// shorter leaves out steps of a walk that fails, one after the other, for as long as it fails.
func shorter(t *testing.T, p plan, chosen []int, failure error) ([]int, error) {
	for i := len(chosen) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(chosen), i, i+1)
		err := attempt(t, p, fewer)
		t.Logf("with the steps %s: %v", join(fewer), err)
		if err != nil {
			chosen, failure = fewer, err
		}
	}
	return chosen, failure
}

// statistics count what walks were made of.
type statistics struct {
	walks, changes, refusedBySchema, refused, writes int
	// byRole are the walks of each role, and runs are the Jobs that were started.
	byRole map[role]int
	runs   int
	// returned are the releases that failed and were answered.
	returned int

	mu sync.Mutex
}

var taken = statistics{byRole: map[role]int{}}

func (s *statistics) ended(r role) {
	s.walks++
	s.byRole[r]++
}

func (s *statistics) add(count func(*statistics)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count(s)
}

func (s *statistics) summary() string {
	return fmt.Sprintf("WALKS ended=%d changes=%d refused_by_schema=%d refused=%d foreign_writes=%d stateful_sets=%d autoscaled=%d jobs=%d runs=%d returned=%d",
		s.walks, s.changes, s.refusedBySchema, s.refused, s.writes, s.byRole[ofReplicas], s.byRole[ofAutoscaler], s.byRole[ofJob], s.runs, s.returned)
}
