package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// woken notes the resources that must be reconciled.
type woken struct {
	rolloutQueue
	names []string
}

func (w *woken) Add(request reconcile.Request) { w.names = append(w.names, request.Name) }

func (w *woken) take() []string {
	names := w.names
	w.names = nil
	return names
}

func in(namespace string, number int) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: fmt.Sprintf("web-%d", number)}
}

func web(number int) types.NamespacedName { return in("demo", number) }

// bench is a line of rollouts, and what it does.
type bench struct {
	*Rollouts
	queue    *woken
	clock    *clocktesting.FakePassiveClock
	chart    Chart
	progress Progress
}

func newBench(t testing.TB, limit int, names ...types.NamespacedName) *bench {
	t.Helper()
	b := &bench{queue: &woken{}, clock: clocktesting.NewFakePassiveClock(start), chart: one}
	b.Rollouts = &Rollouts{
		Limit: limit, MaxFailed: 3, Deadline: time.Minute, Clock: b.clock, Log: logr.Discard(),
		Chart: func() Chart { return b.chart },
		Names: func() ([]types.NamespacedName, error) { return names, nil },
		Show:  func(p Progress) { b.progress = p },
	}
	require.NoError(t, b.Wake().Start(t.Context(), b.queue))
	return b
}

// begun returns which of the resources of a namespace have a place.
func (b *bench) begun(namespace string, count int) (list []int) {
	for i := range count {
		if _, holds := b.places[in(namespace, i)]; holds {
			list = append(list, i)
		}
	}
	return list
}

func TestPlacesAreTakenInOrder(t *testing.T) {
	b := newBench(t, 2)
	for i := range 5 {
		if got := b.Begin(web(i)); got != (i < 2) {
			t.Errorf("resource %d begins: %t", i, got)
		}
	}
	if want := (Progress{Waiting: 3}); b.progress != want {
		t.Errorf("got %+v, want %+v", b.progress, want)
	}
	b.End(web(1))
	if got := b.queue.take(); !slices.Equal(got, []string{"web-2"}) {
		t.Errorf("got %q woken, want the next one alone", got)
	}
	if b.Begin(web(4)) || !b.Begin(web(2)) {
		t.Error("a resource overtakes another")
	}
	b.End(web(3)) // it waited
	b.End(web(0))
	if got := b.queue.take(); !slices.Equal(got, []string{"web-4"}) {
		t.Errorf("got %q woken, want the next one that still waits", got)
	}
	b.End(web(9))
	if got := b.queue.take(); got != nil {
		t.Errorf("got %q woken by a resource that has no place", got)
	}
}

func TestNamespacesShareThePlaces(t *testing.T) {
	b := newBench(t, 2)
	for i, namespace := range []string{"one", "two", "three"} {
		if got := b.Begin(in(namespace, 0)); got != (i < 2) {
			t.Errorf("the resource of namespace %s begins: %t", namespace, got)
		}
	}
}

func TestNobodyBeginsBeforeAllWereLookedAt(t *testing.T) {
	b := newBench(t, 2, web(0), web(1), web(2))
	if b.Begin(web(0)) {
		t.Error("it begins before the others were looked at")
	}
	b.Looked(web(0))
	b.Resume(web(1), start)
	b.Looked(web(1))
	if got := b.begun("demo", 3); !slices.Equal(got, []int{1}) {
		t.Errorf("%v have begun, want the one that had before", got)
	}
	b.Forget(web(2)) // it is gone
	if got := b.queue.take(); !slices.Equal(got, []string{"web-0"}) {
		t.Errorf("got %q woken, want the one that waits", got)
	}
}

func TestAPlaceHasADeadline(t *testing.T) {
	b := newBench(t, 1)
	b.Begin(web(0))
	b.Begin(web(1))
	b.clock.SetTime(start.Add(b.Deadline - 1))
	b.Looked(web(0))
	if got := b.begun("demo", 2); !slices.Equal(got, []int{0}) {
		t.Errorf("%v have a place before the deadline", got)
	}
	b.clock.SetTime(start.Add(b.Deadline))
	b.Looked(web(0))
	if got := b.begun("demo", 2); !slices.Equal(got, []int{1}) {
		t.Errorf("%v have a place after the deadline", got)
	}
	b.Resume(web(0), start) // as its label says
	if got := b.begun("demo", 2); !slices.Equal(got, []int{1}) {
		t.Errorf("%v have a place, want that the one before gets none again", got)
	}
}

func TestANamespaceHasAQuarterOfThePlacesWhileAnotherWaits(t *testing.T) {
	b := newBench(t, 8)
	for i := range 20 {
		b.Begin(in("first", i))
	}
	for i := range 20 {
		b.Begin(in("second", i))
	}
	if got := len(b.begun("first", 20)); got != 8 {
		t.Errorf("%d of the first have a place, want all while nobody else waited", got)
	}
	for i := range 8 {
		b.End(in("first", i))
	}
	if first, second := len(b.begun("first", 20)), len(b.begun("second", 20)); first != 2 || second != 2 {
		t.Errorf("%d and %d have a place, want a quarter each", first, second)
	}
	for i := 8; i < 20; i++ {
		b.End(in("first", i))
	}
	if got := len(b.begun("second", 20)); got != 8 {
		t.Errorf("%d of the second have a place, want all", got)
	}
}

func TestFailuresHaltANamespaceOrAll(t *testing.T) {
	fails := func(names ...types.NamespacedName) []types.NamespacedName { return names }
	first := func(count int) (list []types.NamespacedName) {
		for i := range count {
			list = append(list, in("first", i))
		}
		return list
	}
	cases := map[string]struct {
		failed        []types.NamespacedName
		first, second bool // halted
	}{
		"none":                      {nil, false, false},
		"as many as may":            {first(3), false, false},
		"one more in one namespace": {first(4), true, false},
		"one more in two":           {append(first(3), in("second", 0)), true, true},
		"many in one, one in two":   {append(first(7), in("second", 0)), true, true},
		"one in each of three":      {fails(in("first", 0), in("second", 0), in("third", 0)), false, false},
		"one in each of four":       {fails(in("first", 0), in("second", 0), in("third", 0), in("fourth", 0)), true, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 4)
			for _, failed := range test.failed {
				b.Begin(failed)
				b.Fail(failed)
			}
			for namespace, halted := range map[string]bool{"first": test.first, "second": test.second} {
				why := b.Halted(namespace)
				if begins := b.Begin(in(namespace, 10)); begins == halted || (why != "") != halted {
					t.Errorf("of %s, one begins: %t, since %q", namespace, begins, why)
				}
			}
		})
	}
}

func TestAHaltEndsWhenAllThatFailedAreWell(t *testing.T) {
	b := newBench(t, 10)
	for i := range 4 {
		b.Begin(web(i))
	}
	for i := range 4 {
		b.Fail(web(i))
	}
	if why := b.Halted("demo"); b.Begin(web(9)) || !strings.Contains(why, "demo/web-0, demo/web-1, demo/web-2 and 1 more failed") {
		t.Errorf("it goes on, or says %q", why)
	}
	if want := (Progress{Held: 1, Failed: 4}); b.progress != want {
		t.Errorf("got %+v, want %+v", b.progress, want)
	}
	b.queue.take()
	for i := range 4 {
		if b.Halted("demo") == "" {
			t.Errorf("it goes on though %d have failed", 4-i)
		}
		b.End(web(i))
	}
	if got := b.queue.take(); b.Halted("demo") != "" || !slices.Contains(got, "web-9") {
		t.Errorf("it does not go on: %q are woken", got)
	}
}

func TestWhoFailsInOneNamespaceDoesNotHoldUpOthers(t *testing.T) {
	b := newBench(t, 10)
	for _, name := range []types.NamespacedName{in("first", 0), in("first", 1), in("second", 0), in("second", 1)} {
		b.Fail(name)
	}
	if b.Begin(in("third", 0)) {
		t.Error("it goes on")
	}
	b.End(in("second", 0))
	b.End(in("second", 1)) // the first never get well
	if got := b.begun("third", 1); len(got) != 1 {
		t.Error("failures in one namespace halt all others")
	}
}

func TestAHaltedChartGoesOnOnRequestAndTheNextOneByItself(t *testing.T) {
	b := newBench(t, 10)
	for i := range 4 {
		b.Fail(web(i))
	}
	b.Begin(web(9))
	b.Allow("another")
	if b.Begin(web(9)) {
		t.Error("it goes on for the sake of another chart")
	}
	b.queue.take()
	b.Allow(known[:12])
	if got := b.queue.take(); !b.Begin(web(9)) || !slices.Contains(got, "web-9") {
		t.Errorf("it does not go on: %q are woken", got)
	}
	b.Allow("")
	if b.Halted("demo") == "" {
		t.Error("it goes on though nobody requests that any more")
	}
	b.chart.Digest = "fedcba98"
	if !b.Begin(web(10)) || b.progress.Failed != 0 {
		t.Errorf("the next chart begins with the failures of the one before: %+v", b.progress)
	}
}

func TestNothingIsLeftOfResourcesThatAreGone(t *testing.T) {
	b := newBench(t, 2)
	for i := range 100 {
		name := in(fmt.Sprintf("preview-%d", i), 0)
		b.Begin(name)
		if i%3 == 0 {
			b.Fail(name)
		}
		b.Looked(name)
	}
	for i := range 100 {
		b.Forget(in(fmt.Sprintf("preview-%d", i), 0))
		b.Looked(in(fmt.Sprintf("preview-%d", i), 0)) // the same reconcile
	}
	if left := len(b.lines) + len(b.places) + len(b.waiting) + len(b.failed) + len(b.failures) + b.turns.Len(); left != 0 {
		t.Errorf("%d are left", left)
	}
}

// BenchmarkLine ends and begins rollouts while others wait: it takes the same time however many they are.
func BenchmarkLine(b *testing.B) {
	for _, waiting := range []int{1_000, 100_000} {
		for _, namespaces := range []int{1, 1_000} {
			b.Run(fmt.Sprintf("%d waiting in %d namespaces", waiting, namespaces), func(b *testing.B) {
				line := newBench(b, 10)
				name := func(i int) types.NamespacedName { return in(fmt.Sprintf("team-%d", i%namespaces), i) }
				for i := range waiting + 10 {
					line.Begin(name(i))
				}
				line.queue.take()
				b.ResetTimer()
				next := waiting + 10
				for range b.N {
					for holder := range line.places {
						line.End(holder)
						break
					}
					line.End(name(0)) // idle resources are reconciled, too
					line.Begin(name(next))
					next++
					line.queue.take()
				}
			})
		}
	}
}
