package fleet

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// town is the gates before two namespaces with two resources each.
type town struct {
	*Gates
	asked Asked
	woken woken
	names map[string][]types.NamespacedName
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{asked: set, names: map[string][]types.NamespacedName{}}
	all := func() (list []types.NamespacedName, err error) { return append(w.names["a"], w.names["b"]...), nil }
	for _, namespace := range []string{"a", "b"} {
		for _, name := range []string{"one", "two"} {
			w.names[namespace] = append(w.names[namespace], types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	w.Gates = &Gates{
		Chart: &Gate{Now: func() Version { return w.asked.Chart }, Names: all, Log: logr.Discard()},
		Of: func(namespace string) *Gate {
			return &Gate{
				Now:   func() Version { return w.asked.Defaults },
				Names: func() ([]types.NamespacedName, error) { return w.names[namespace], nil }, Log: logr.Discard(),
			}
		},
	}
	require.NoError(t, w.Wake().Start(t.Context(), &w.woken))
	return w
}

func TestNamespacesHaveGatesOfTheirOwn(t *testing.T) {
	w := newTown(t)
	hold := func(parts Parts, namespace string) Verdict {
		return w.Hold(w.asked, parts, w.names[namespace][0]).Verdict
	}
	w.Note(w.asked, w.names["a"][0], fine, unfit)
	w.Note(w.asked, w.names["b"][0], fine, waits)
	if got := hold(Parts{Defaults: true}, "a"); got != Trying {
		t.Errorf("got %s before all of the namespace were looked at", got)
	}
	w.Note(w.asked, w.names["a"][1], fine, waits)
	w.Note(w.asked, w.names["b"][1], fine, waits)
	for _, want := range []struct {
		namespace string
		parts     Parts
		verdict   Verdict
	}{
		{"a", Parts{Defaults: true}, Refused}, {"a", Parts{Chart: true}, ""}, {"a", both, Refused},
		{"b", Parts{Defaults: true}, Open}, {"b", both, Open},
	} {
		if got := hold(want.parts, want.namespace); got != want.verdict {
			t.Errorf("%+v in namespace %s: got %q, want %q", want.parts, want.namespace, got, want.verdict)
		}
	}
	w.Note(w.asked, w.names["b"][1], unfit, fine)
	if got := w.Hold(w.asked, both, w.names["b"][0]); got.Verdict != Refused || got.Message != one.String()+" is held back, because it cannot be rendered for b/two" {
		t.Errorf("got %+v: the chart has to do with all namespaces", got)
	}
}

func TestTheGateOfANamespaceGoesWithItsLastResource(t *testing.T) {
	w := newTown(t)
	for _, name := range w.names["a"] {
		w.Pass(w.asked, name)
	}
	w.names["a"] = w.names["a"][1:]
	w.Forget(types.NamespacedName{Namespace: "a", Name: "one"})
	if len(w.namespaces) != 1 {
		t.Errorf("got %d gates with a resource left, want 1", len(w.namespaces))
	}
	w.names["a"] = nil
	w.Forget(types.NamespacedName{Namespace: "a", Name: "two"})
	if len(w.namespaces) != 0 {
		t.Errorf("got %d gates without a resource, want none", len(w.namespaces))
	}
}
