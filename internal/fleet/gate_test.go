package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
)

var (
	waits  = Standing{Waits: true}
	unfit  = Standing{Waits: true, Unfit: true}
	failed = Standing{Failed: true}
	fine   = Standing{}
)

func resource(number int) types.NamespacedName {
	return types.NamespacedName{Namespace: "demo", Name: fmt.Sprintf("web-%d", number)}
}

// bench is a gate before a fleet.
type bench struct {
	*Gate
	woken    woken
	progress Progress
	chart    Chart
	names    []types.NamespacedName
}

// newBench returns the gate before resources 0 and up, which came to use chart one.
func newBench(t *testing.T, count int) *bench {
	t.Helper()
	b := &bench{chart: one}
	for i := range count {
		b.names = append(b.names, resource(i))
	}
	b.Gate = &Gate{
		Now: func() Version { return b.chart }, Names: func() ([]types.NamespacedName, error) { return b.names, nil },
		MaxFailed: 1, Show: func(p Progress) { b.progress = p }, Log: logr.Discard(),
	}
	b.wakes(&b.woken)
	return b
}

// note notes standings of the first resources.
func (b *bench) note(standings ...Standing) {
	for i, standing := range standings {
		b.Note(b.chart, resource(i), standing)
	}
}

func (b *bench) expect(t *testing.T, verdict Verdict, woken int, message ...string) {
	t.Helper()
	hold := b.Hold(b.chart)
	if hold.Verdict != verdict || hold.Closed() != (verdict != Open) {
		t.Errorf("got %+v, want %s", hold, verdict)
	}
	for _, part := range message {
		if !strings.Contains(hold.Message, part) {
			t.Errorf("got the message %q, want %q in it", hold.Message, part)
		}
	}
	if names := b.woken.take(); len(names) != woken {
		t.Errorf("got %q woken, want %d", names, woken)
	}
}

func TestNobodyIsTouchedBeforeAllWereRendered(t *testing.T) {
	b := newBench(t, 3)
	b.note(waits, waits)
	b.expect(t, Trying, 0)
	b.Pass(one, resource(2)) // it is paused, say
	b.expect(t, Open, 2)
	if b.progress != (Progress{Waiting: 2}) {
		t.Errorf("got %+v", b.progress)
	}
}

func TestAChartThatFailsForSomeIsHeldBackFromAllUntilTheyAreMended(t *testing.T) {
	b := newBench(t, 6)
	b.note(unfit, waits, waits, unfit, fine, waits)
	b.expect(t, Refused, 5, "chart tiny 1.0.0 (0123456789ab) is held back", "demo/web-0, demo/web-3")
	if b.progress != (Progress{Held: 3, Unfit: 2}) {
		t.Errorf("got %+v", b.progress)
	}
	b.Note(one, resource(0), fine) // its user has changed the spec
	b.expect(t, Refused, 0, "rendered for demo/web-3")
	b.Forget(resource(3))
	b.expect(t, Open, 3)
	if b.progress != (Progress{Waiting: 3}) {
		t.Errorf("got %+v", b.progress)
	}
}

func TestAChartIsHaltedWhenMoreFailThanMay(t *testing.T) {
	b := newBench(t, 6)
	b.note(waits, waits, waits, waits, waits, waits)
	b.expect(t, Open, 6)
	b.note(failed)
	b.expect(t, Open, 0)
	b.note(failed, failed)
	b.expect(t, Halted, 4, "is halted", "because demo/web-0, demo/web-1 did not become ready with it")
	if b.progress != (Progress{Held: 4, Failed: 2}) {
		t.Errorf("got %+v", b.progress)
	}
	b.note(fine)
	b.expect(t, Halted, 0, "because demo/web-1 did not")
	b.note(fine, fine)
	b.expect(t, Open, 4)
}

func TestAChartGoesOnWhereThatIsAskedFor(t *testing.T) {
	b := newBench(t, 5)
	b.note(unfit, failed, failed, waits, waits)
	b.expect(t, Refused, 3)
	b.Ask("fedcba9876543210")
	b.expect(t, Refused, 0)
	b.Ask(digest[:12])
	b.expect(t, Open, 3)
	b.Ask("")
	b.expect(t, Refused, 3)
}

func TestTheNextChartIsTriedFromTheBeginning(t *testing.T) {
	b := newBench(t, 3)
	b.note(unfit, waits, waits)
	b.expect(t, Refused, 3)
	b.chart.Digest = "fedcba9876543210"
	b.Note(one, resource(0), unfit) // a reconcile that began before
	if hold := b.Hold(one); hold.Verdict != Trying {
		t.Errorf("the chart before may go on: %+v", hold)
	}
	b.note(fine, waits)
	b.expect(t, Trying, 0)
	b.note(fine, waits, waits)
	b.expect(t, Open, 2)
	b.Note(one, resource(1), unfit)
	b.Pass(one, resource(1))
	b.expect(t, Open, 0)
}

func TestNobodyIsTouchedWhileTheFleetIsNotKnown(t *testing.T) {
	b := newBench(t, 1)
	err := errors.New("the cache is not filled")
	names := b.Names
	b.Names = func() ([]types.NamespacedName, error) { return nil, err }
	b.note(waits)
	b.expect(t, Trying, 0)
	b.Names = names
	b.note(waits)
	b.expect(t, Open, 1)
}

func TestAFewAreNamedAndTheOthersCounted(t *testing.T) {
	for count, want := range map[int]string{1: "a", 3: "a, b, c", 4: "a, b, c and 1 more"} {
		if got := some(slices.Clone([]string{"a", "b", "c", "d"})[:count]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The CRD may be seen before any resource is.
func TestWhatWasAskedForBeforeTheFirstLookCounts(t *testing.T) {
	b := newBench(t, 1)
	b.Ask(digest)
	b.Forget(resource(1))
	b.note(unfit)
	b.expect(t, Open, 1)
}
