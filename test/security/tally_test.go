//go:build cluster

package security

import (
	"fmt"
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
	guarded   outcome = 1 << iota // it is blocked
	succeeded                     // it succeeds with its guard off, or the guard has no switch
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

// report prints how many vectors there were and how many of them are blocked and known to try the real thing, and writes both into the file that
// the environment names.
func (s *score) report() error {
	blocked := 0
	for _, what := range s.seen {
		if what == guarded|succeeded {
			blocked++
		}
	}
	if len(s.seen) == 0 {
		return nil
	}
	figures := fmt.Sprintf("vectors=%d blocked=%d", len(s.seen), blocked)
	fmt.Println("VECTORS", figures)
	return files.Figures("SECURITY_FIGURES", figures)
}
