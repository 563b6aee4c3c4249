package fault

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// attempt is one plan while it is played.
type attempt struct {
	t         *testing.T
	plan      plan
	reference *reference
	stage     *stage
	process   *process
	struck    <-chan struct{}
	hit       bool
	since     time.Time // of the fault, or of the restart after it
	recovery  time.Duration
}

func (a *attempt) arm() {
	a.stage.line.Start()
	a.struck = a.stage.line.Arm(harness.Fault{At: a.plan.point, Kind: a.plan.fault})
}

// look notes whether the fault has struck, and starts an operator that died again.
func (a *attempt) look() {
	if a.process != nil && a.process.revive() {
		a.since = time.Now()
		if a.plan.again && a.process.deaths == 1 {
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

// becomes waits until the namespace is as the reference is after a step, and the status is true: oracles O1, O3 and O4.
func (a *attempt) becomes(step int) bool {
	wanted, mask := a.reference.states[step], a.reference.masks[step]
	last := step == len(a.reference.states)-1
	var differs []string
	var lie error // what the status says that is not so; a write that was decided a moment ago may still land
	looked := -1
	err := poll.UntilWithin(a.t.Context(), patience, func(context.Context) error {
		a.look()
		version, quiet := seen.version(a.stage.namespace)
		if version != looked {
			objects, err := seen.objects(a.t.Context(), a.stage.namespace)
			if err != nil {
				return err
			}
			got, err := stateOf(a.stage.namespace, objects)
			if err != nil {
				return err
			}
			app, err := appOf(objects)
			if err != nil {
				return err
			}
			looked, differs, lie = version, differences(wanted, got, mask), nil
			if app != nil {
				lie = untrue(app, objects)
			}
		}
		switch {
		case len(differs) > 0:
			return fmt.Errorf("%d fields differ", len(differs))
		case lie != nil:
			return lie
		case last && a.struck != nil && !a.hit && (quiet < calm || a.stage.line.Quiet() < calm):
			return fmt.Errorf("the fault has not struck yet")
		}
		return nil
	})
	if text := logs.panicIn(a.stage.namespace); text != "" {
		tally.fail(a.t, a.plan.name(), false, "O3: %s", text)
	}
	if err != nil {
		oracle := "O1"
		if len(differs) == 0 && lie != nil {
			oracle = "O4"
		}
		tally.played(a.plan.name(), a.hit, 0)
		tally.fail(a.t, a.plan.name(), true, "%s: %v after step %d; the fault at %s struck: %t\n    %s", oracle, err, step+1, a.plan.point, a.hit,
			listed(differs))
		return false
	}
	if a.hit {
		a.recovery = time.Since(a.since)
	}
	return true
}

func (s *stage) state(t *testing.T) (state, error) {
	objects, err := seen.objects(t.Context(), s.namespace)
	if err != nil {
		return nil, err
	}
	return stateOf(s.namespace, objects)
}
