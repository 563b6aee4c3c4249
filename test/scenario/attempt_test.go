//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// attempt is one run of a plan.
type attempt struct {
	t         *testing.T
	plan      plan
	reference *reference
	stage     *stage
	struck    <-chan struct{}
	hit       bool
	since     time.Time // of the fault, or of the restart after it
	recovery  time.Duration
}

func (a *attempt) arm() {
	a.stage.line.Start()
	a.struck = a.stage.line.Arm(harness.Fault{At: a.plan.point, Kind: a.plan.fault})
}

// look records whether the fault has struck, and restarts an operator that has died.
func (a *attempt) look() {
	if a.stage.process != nil && a.stage.process.revive() {
		a.since = time.Now()
		if a.plan.again && a.stage.process.deaths == 1 {
			a.stage.line.Arm(harness.Fault{Number: len(a.stage.line.Points()) + 1, Kind: harness.DiesBefore})
		}
	}
	if a.struck == nil || a.hit {
		return
	}
	select {
	case <-a.struck:
		a.hit = true
		if a.since.IsZero() {
			a.since = time.Now()
		}
	default:
	}
}

// becomes waits until the namespace equals the reference after a step, and the status is true: oracles O1, O3 and O4. After the last step, nothing
// may happen any more: an operator that has only just begun to process a change may find everything equal, and write another status yet.
func (a *attempt) becomes(step int) bool {
	last := step == len(a.reference.states)-1
	view := &view{wanted: a.reference.states[step], mask: a.reference.masks[step], looked: -1}
	var since time.Time // it is equal
	err := poll.UntilWithin(a.t.Context(), patience, func(ctx context.Context) error {
		a.look()
		if err := view.off(ctx, a.stage); err != nil {
			since = time.Time{}
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if last && !a.stage.quiet() {
			return fmt.Errorf("something still happens")
		}
		return nil
	})
	if text := logs.panicIn(a.stage.namespace); text != "" {
		tally.fail(a.t, a.plan.name(), false, "O3: %s", text)
	}
	if err != nil {
		oracle := "O1"
		if len(view.differs) == 0 && view.lie != nil {
			oracle = "O4"
		}
		tally.played(a.plan.name(), a.hit, 0)
		tally.fail(a.t, a.plan.name(), true, "%s: %v after step %d; the fault at %s struck: %t\n    %s", oracle, err, step+1, a.plan.point, a.hit,
			listed(view.differs))
		return false
	}
	if a.hit {
		a.recovery = max(0, since.Sub(a.since))
	}
	return true
}

// view compares a namespace with the reference whenever something has changed there.
type view struct {
	wanted state
	mask   map[string]bool

	looked  int      // the version of the namespace that was compared, -1 if none
	differs []string // the fields in which it differs
	lie     error    // what is untrue in the status; a write that was decided a moment ago may still arrive
}

// off returns how a namespace differs from what it should be.
func (v *view) off(ctx context.Context, stage *stage) error {
	if version, _ := seen.version(stage.namespace); version != v.looked {
		objects, err := seen.objects(ctx, stage.namespace)
		if err != nil {
			return err
		}
		got, err := stateOf(stage.namespace, objects)
		if err != nil {
			return err
		}
		v.looked, v.differs, v.lie = version, differences(v.wanted, got, v.mask), lie(objects)
	}
	if len(v.differs) > 0 {
		return fmt.Errorf("%d fields differ", len(v.differs))
	}
	return v.lie
}

// quiet reports whether nothing has happened for a while.
func (s *stage) quiet() bool {
	_, quiet := seen.version(s.namespace)
	return quiet >= calm && s.line.Quiet() >= calm
}

func (s *stage) state(t *testing.T) (state, error) {
	objects, err := seen.objects(t.Context(), s.namespace)
	if err != nil {
		return nil, err
	}
	return stateOf(s.namespace, objects)
}
