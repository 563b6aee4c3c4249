package queue

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// tokens are what a rate limit allows.
type tokens int

func (t *tokens) TryAccept() bool {
	if *t == 0 {
		return false
	}
	*t--
	return true
}
func (t *tokens) Stop()        {}
func (t *tokens) QPS() float32 { return 0 }

// A thousand resources of one namespace ask all the time; one of another has its turn next.
func TestANamespaceDoesNotWaitForTheTurnsOfAnother(t *testing.T) {
	allowed := tokens(0)
	turns := NewTurns(&allowed)
	loud := func() (taken int) {
		for i := range 1000 {
			if turns.Take(request("loud", i).NamespacedName) {
				taken++
			}
		}
		return taken
	}
	quiet := types.NamespacedName{Namespace: "quiet", Name: "web"}
	for range 3 {
		if loud() > 0 || turns.Take(quiet) {
			t.Fatal("somebody has a turn that the limit does not allow")
		}
		allowed = 2 // the line of the other namespace may be first
		taken := loud()
		if !turns.Take(quiet) {
			t.Fatalf("it waits, while %d of another namespace had their turns", taken)
		}
	}
	allowed = 5000
	if taken := loud() + loud(); taken < 1000 {
		t.Errorf("%d had a turn, although all might", taken)
	}
}

func TestTurnsAreForgotten(t *testing.T) {
	allowed := tokens(0)
	turns := NewTurns(&allowed)
	gone, there := request("a", 1).NamespacedName, request("b", 1).NamespacedName
	turns.Take(gone)
	allowed = 2
	if !turns.Take(there) || len(turns.granted) != 1 {
		t.Fatalf("the turn of what does not ask again is not kept: %v", turns.granted)
	}
	turns.Forget(gone)
	if len(turns.granted) != 0 || turns.waiting.Len() != 0 {
		t.Errorf("%v is left", turns.granted)
	}
	if (*Turns)(nil).Take(gone) != true {
		t.Error("no limit refuses")
	}
}
