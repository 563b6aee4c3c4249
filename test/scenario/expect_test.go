//go:build cluster

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

// expectation is what a step leads to, apart from the condition Ready. The state is expected whatever fails meanwhile: each plan ends like
// the scenario without faults. Events and requests are looked at when it is played without.
type expectation struct {
	same     bool              // all is as before the step, apart from its history: repaired if it was edited, or created again
	fields   map[string]string // by their path in a state, such as "Service web.spec.type"; empty if there is none
	keeps    string            // an object whose spec is that of before the step in each field, such as "Service web"
	events   []string          // parts of the notes of events
	silent   []string          // texts that are in no event
	requests []string          // all that change something, such as "patch appservices/web/status"; nil for any
}

// meets compares what a step led to with what is expected of it. States are those after each step so far, made the requests before it.
func (s *stage) meets(t *testing.T, step step, states []state, made []harness.Point) {
	t.Helper()
	number, now, want := len(states), states[len(states)-1], step.expect
	if want.same {
		if differs := differences(timeless(states[number-2]), timeless(now), nil); len(differs) > 0 {
			t.Errorf("step %d: it is not as before:\n    %s", number, listed(differs))
		}
		for what, uid := range s.touched {
			object := s.object(what)
			require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			if edited := step.edit[what] != ""; edited != (object.GetUID() == uid) {
				t.Errorf("step %d: %s had the UID %s and has %s", number, what, uid, object.GetUID())
			}
		}
	}
	for path, value := range want.fields {
		if got := now[path]; got != value {
			t.Errorf("step %d: %s is %q, want %q", number, path, got, value)
		}
	}
	if want.keeps != "" {
		now, err := seen.objects(t.Context(), s.namespace)
		require.NoError(t, err)
		require.Equal(t, s.before[want.keeps].Object["spec"], now[want.keeps].Object["spec"], "step %d", number)
	}
	if want.requests != nil {
		var got []string
		for _, point := range s.line.Points()[len(made):] {
			got = append(got, point.Verb+" "+point.Target)
		}
		if slices.Sort(got); !slices.Equal(got, want.requests) {
			t.Errorf("step %d: got the requests %q, want %q", number, got, want.requests)
		}
	}
	s.tells(t, want)
}

// tells waits until the events of a namespace have certain texts, and checks that they do not have others.
func (s *stage) tells(t *testing.T, want expectation) {
	t.Helper()
	if len(want.events)+len(want.silent) == 0 {
		return
	}
	harness.Eventually(t, "events tell it", func() error {
		list := &eventsv1.EventList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		var notes []string
		for _, event := range list.Items {
			if event.ReportingController == "appservice-operator" || event.Regarding.Kind == s.kind {
				notes = append(notes, event.Reason+": "+event.Note)
			}
		}
		all := strings.Join(notes, "\n")
		for _, text := range want.silent {
			if strings.Contains(all, text) {
				t.Fatalf("an event has the text %q: %s", text, all)
			}
		}
		for _, text := range want.events {
			text = strings.ReplaceAll(text, "NAMESPACE", s.namespace)
			if !strings.Contains(all, text) {
				return fmt.Errorf("no event has the text %q: %s", text, all)
			}
		}
		return nil
	})
}
