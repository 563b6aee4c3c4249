//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/example/appservice-operator/tools/poll"
)

// rest lets operators finish what they were stopped in. One that was stopped while it wrote what it had just seen owes another write; that a
// restart makes this write says nothing about restarts. On a machine of any speed, whether a write is owed is certain only after all operators have
// stopped.
func (p *player) rest(t *testing.T) {
	t.Helper()
	for {
		owing := slices.DeleteFunc(slices.Clone(p.played), func(one *played) bool { return one.off(t.Context()) == nil })
		if len(owing) == 0 {
			return
		}
		before, running := reconciles(t), all(t)
		for _, one := range owing {
			t.Logf("%s: its operator was stopped before it had written all: %v", one.plan, one.off(t.Context()))
			err := poll.UntilWithin(t.Context(), patience, one.off)
			if err != nil {
				tally.fail(t, one.plan, true, "O1: it was as it is to be, and is no more: %v", err)
				p.played = slices.DeleteFunc(p.played, func(other *played) bool { return other == one })
			}
		}
		p.calm(t, before)
		for _, operator := range running {
			operator.Stop(t)
		}
	}
}

// off returns how the state of a plan differs from the one that it ended in.
func (p *played) off(ctx context.Context) error {
	view := &view{wanted: p.end, mask: p.mask, looked: -1}
	if err := view.off(ctx, p.stage); err != nil {
		return fmt.Errorf("%w\n    %s", err, listed(view.differs))
	}
	return nil
}
