package fleet

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// woken notes who is to be reconciled.
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

func candidate(number int) Candidate {
	return Candidate{schema.GroupKind{Kind: "Web"}, types.NamespacedName{Namespace: "demo", Name: fmt.Sprintf("web-%d", number)}}
}

// lined returns rollouts for which candidates 0 and up have asked, in this order.
func lined(t *testing.T, limit, count int) (*Rollouts, *woken) {
	t.Helper()
	rollouts, queue := &Rollouts{Limit: limit}, &woken{}
	require.NoError(t, rollouts.Wake(schema.GroupKind{Kind: "Web"}).Start(t.Context(), queue))
	for i := range count {
		rollouts.Begin(candidate(i))
	}
	return rollouts, queue
}

func TestPlacesAreHadInTheOrderOfAsking(t *testing.T) {
	rollouts, queue := lined(t, 2, 5)
	for i, want := range []Turn{{}, {}, {true, 0}, {true, 1}, {true, 2}} {
		if got := rollouts.Begin(candidate(i)); got != want {
			t.Errorf("candidate %d: got %+v, want %+v", i, got, want)
		}
	}
	rollouts.End(candidate(1))
	if got := queue.take(); !slices.Equal(got, []string{"web-2", "web-3", "web-4"}) {
		t.Errorf("got %q woken, want those of which something else is to be said", got)
	}
	if got := rollouts.Begin(candidate(4)); got != (Turn{true, 1}) {
		t.Errorf("who asks first when a place is free overtakes others: %+v", got)
	}
	if got := rollouts.Begin(candidate(2)); got.Waits {
		t.Error("the first that waited has no place")
	}
}

func TestWhoGoesLeavesTheLine(t *testing.T) {
	rollouts, queue := lined(t, 1, 4)
	rollouts.End(candidate(2)) // it waited
	if got := queue.take(); !slices.Equal(got, []string{"web-3"}) {
		t.Errorf("got %q woken, want the one behind it", got)
	}
	rollouts.End(candidate(2))
	rollouts.End(candidate(9))
	if got := queue.take(); got != nil {
		t.Errorf("got %q woken by who does not stand in line", got)
	}
	if got := rollouts.Begin(candidate(3)); got != (Turn{true, 1}) {
		t.Errorf("got %+v, want one before it", got)
	}
	if got := rollouts.Begin(candidate(2)); got != (Turn{true, 2}) {
		t.Errorf("who asks again is at %+v, want the end of the line", got)
	}
}

func TestKindsShareTheLineAndNotTheNames(t *testing.T) {
	rollouts, _ := lined(t, 1, 1)
	other := candidate(0)
	other.Kind = "Worker"
	if !rollouts.Begin(other).Waits {
		t.Error("another kind has a line of its own")
	}
	rollouts.End(other)
	if !rollouts.Begin(candidate(1)).Waits {
		t.Error("a resource of another kind gave the place of its namesake back")
	}
}

// Each one that ends wakes a few of those that wait, and each that waits has something else to say a few times.
func TestAThousandThatWaitSayLittle(t *testing.T) {
	const count, limit, bound = 1010, 10, 9
	rollouts, queue := lined(t, limit, count)
	said, statuses := map[int]string{}, map[int]int{}
	for first := range count {
		for i := first; i < count; i++ {
			turn := rollouts.Begin(candidate(i))
			if text := turn.String(); turn.Waits && said[i] != text {
				said[i] = text
				statuses[i]++
			}
		}
		rollouts.End(candidate(first))
		if got := queue.take(); len(got) > bound {
			t.Fatalf("the end of one wakes %d", len(got))
		}
	}
	for i, times := range statuses {
		if times > bound {
			t.Errorf("candidate %d says something else %d times", i, times)
		}
	}
	if len(statuses) != count-limit {
		t.Errorf("%d said that they wait, want %d", len(statuses), count-limit)
	}
}

func TestTurnInWords(t *testing.T) {
	for ahead, want := range map[int]string{
		0: "no other before it", 1: "1 other before it", 2: "2 others before it", 3: "more than 2 others before it", 5: "more than 2 others before it",
		6: "more than 5 others before it", 1000: "more than 500 others before it", 1001: "more than 1000 others before it", 99999: "more than 10000 others before it",
	} {
		if got := (Turn{Waits: true, Ahead: ahead}).String(); got != want {
			t.Errorf("%d: got %q, want %q", ahead, got, want)
		}
	}
}
