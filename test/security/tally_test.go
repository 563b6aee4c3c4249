//go:build cluster

package security

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/example/appservice-operator/test/files"
)

// score counts vectors by outcome.
type score struct {
	mu   sync.Mutex
	seen map[string]outcome
}

// outcome is the result of a vector.
type outcome int

const (
	guarded       outcome = 1 << iota // it is blocked
	succeeded                         // it succeeds with its guard off, or the guard has no switch
	guardedIfOpen                     // it is blocked with the policy open, too
)

var tally = score{seen: map[string]outcome{}}

func (s *score) begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[name] |= 0
}

func (s *score) note(t *testing.T, name string, what outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.Failed() {
		s.seen[name] |= what
	}
}

// report prints how many vectors there were, how many of them are blocked and known to try the real thing, and how many of these are blocked with
// the built-in policy open, too, and which are not. It writes the numbers into the file that the environment names.
func (s *score) report() error {
	blocked, open := 0, 0
	for _, name := range slices.Sorted(maps.Keys(s.seen)) {
		held := "shared, open"
		switch s.seen[name] {
		case guarded | succeeded | guardedIfOpen:
			open++
			blocked++
		case guarded | succeeded:
			held = "shared"
			blocked++
		default:
			held = "-"
		}
		fmt.Printf("VECTOR %-14s%s\n", held, name)
	}
	if len(s.seen) == 0 {
		return nil
	}
	figures := fmt.Sprintf("vectors=%d blocked=%d open=%d", len(s.seen), blocked, open)
	fmt.Println("VECTORS", figures)
	return files.Figures("SECURITY_FIGURES", figures)
}
