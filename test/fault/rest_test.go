package fault

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// rest lets operators end what they were stopped in. One that was stopped while it wrote what it had seen a moment before owes another
// write, and that a restart makes it says nothing about restarts. However slow the machine: whether something is owed shows once nobody
// runs who could still write.
func (p *player) rest(t *testing.T) {
	t.Helper()
	for {
		owing := slices.DeleteFunc(slices.Clone(p.played), func(one *played) bool { return one.off(t.Context()) == nil })
		if len(owing) == 0 {
			return
		}
		running := all(t)
		for _, one := range owing {
			t.Logf("%s: its operator was stopped before it had written all: %v", one.plan, one.off(t.Context()))
			err := poll.UntilWithin(t.Context(), patience, one.off)
			if err != nil {
				tally.fail(t, one.plan, true, "O1: it was as it is to be, and is no more: %v", err)
				p.played = slices.DeleteFunc(p.played, func(other *played) bool { return other == one })
			}
		}
		harness.Eventually(t, "nothing happens any more", func() error {
			for _, one := range p.played {
				if !one.stage.quiet() {
					return fmt.Errorf("something still happens in %s", one.stage.namespace)
				}
			}
			return nil
		})
		for _, operator := range running {
			operator.Stop(t)
		}
	}
}

// off returns in which way what was played is not as it ended.
func (p *played) off(ctx context.Context) error {
	view := &view{wanted: p.end, mask: p.mask, looked: -1}
	if err := view.off(ctx, p.stage); err != nil {
		return fmt.Errorf("%w\n    %s", err, listed(view.differs))
	}
	return nil
}
