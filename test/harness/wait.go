package harness

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/tools/poll"
)

// Patience is how long a test waits for a state. It measures nothing: a wait ends with the event, so that only an event that never happens takes
// that long, however slow the machine.
const Patience = 3 * time.Minute

const (
	// remarkable is how long a wait takes that is logged.
	remarkable = 10 * time.Second
	// stillness is for how long a manager must ask for nothing to count as done.
	stillness = 2 * time.Second
	// held is longer than a status is held back: its counters and messages are written every 5 s, changes that flap every 10 s.
	held = 12 * time.Second
)

// Eventually fails the test unless check returns nil within Patience.
func Eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	begin := time.Now()
	err := poll.UntilWithin(t.Context(), Patience, func(context.Context) error { return check() })
	require.NoError(t, err, "%s: %v", what, err)
	if took := time.Since(begin); took > remarkable {
		t.Logf("waited %s: %s", took.Round(time.Second), what)
	}
}

// Rest waits until the operator has made no request for a while. One that fights over an object never rests. On a slow machine this shows less, but
// nothing false: a test first waits for whatever has to happen before.
func (m *Manager) Rest(t *testing.T) {
	t.Helper()
	m.still(t, stillness)
}

// RestWithStatus waits until the operator rests and no status is held back, which its successor would write.
func (m *Manager) RestWithStatus(t *testing.T) {
	t.Helper()
	m.still(t, held)
}

func (m *Manager) still(t *testing.T, long time.Duration) {
	t.Helper()
	mark, since := m.Requests.Mark(), time.Now()
	Eventually(t, "the operator comes to rest", func() error {
		now := m.Requests.Mark()
		if made := m.Requests.Since(mark); len(made) > 0 {
			mark, since = now, time.Now()
			return fmt.Errorf("it still makes requests: %v", made)
		}
		if still := time.Since(since); still < long {
			return fmt.Errorf("it has been still for only %s", still)
		}
		return nil
	})
}

// Becomes reads an object again and again until check returns nil, as Eventually does.
func (c *Cluster) Becomes(t *testing.T, what string, object client.Object, check func() error) {
	t.Helper()
	Eventually(t, what, func() error {
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		return check()
	})
}
