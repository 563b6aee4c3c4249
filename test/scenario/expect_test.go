//go:build cluster

package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

// expectation is what a step leads to, apart from the condition Ready. The state is expected whatever fails meanwhile: each plan ends like
// the scenario without faults. Events and requests are looked at when it is played without.
type expectation struct {
	same     bool              // all is as before the step, apart from its history: repaired if it was edited, or created again
	fields   map[string]string // by their path in a state, such as "Service web.spec.type" or "Job web-*.kind"; empty if there is none
	runs     []string          // the images whose release tasks have run so far, in order; nil for any
	pods     bool              // the pods are those of before the step
	problems []string          // parts of status.problems, as in "Warning DependencyMissing: message (hint)"; nil for any, empty for none
	keeps    string            // an object whose spec is that of before the step in each field, such as "Service web"
	events   []string          // parts of the notes of events
	silent   []string          // texts that are in no event
	order    []string          // requests that are made in this order, whatever comes between
	requests []string          // all that write, such as "create services/web", with those of a status only if nothing else is written; nil for any
}

// fieldsOf are paths, each followed by its value.
func fieldsOf(pairs ...string) map[string]string {
	fields := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		fields[pair[0]] = pair[1]
	}
	return fields
}

// lacks returns in what a namespace is not as expected yet.
func (s *stage) lacks(t *testing.T, want expectation, objects map[string]*unstructured.Unstructured, now state) error {
	t.Helper()
	for field, value := range want.fields {
		if got := now.field(field); got != value {
			return fmt.Errorf("%s is %q, want %q", field, got, value)
		}
	}
	if ran := seen.imagesRun(s.namespace); want.runs != nil && !slices.Equal(ran, want.runs) {
		return fmt.Errorf("the tasks of %q have run, want %q", ran, want.runs)
	}
	if want.pods {
		if pods := s.podsNow(t); !slices.Equal(pods, s.pods) {
			return fmt.Errorf("the pods are %q, want %q, as before", pods, s.pods)
		}
	}
	if want.problems != nil {
		return s.otherProblems(want.problems, objects)
	}
	return nil
}

// otherProblems returns in what the problems of a status differ from those expected.
func (s *stage) otherProblems(want []string, objects map[string]*unstructured.Unstructured) error {
	app, err := servedOf(s.kind, objects)
	if err != nil || app == nil {
		return err
	}
	var lines []string
	for _, problem := range app.Status.Problems {
		lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", problem.Type, problem.Reason, problem.Message, problem.Hint))
	}
	all := strings.Join(lines, "\n")
	for _, text := range want {
		if !strings.Contains(all, text) {
			return fmt.Errorf("no problem has the text %q: %q", text, all)
		}
	}
	if len(want) == 0 && all != "" {
		return fmt.Errorf("there are the problems %q", all)
	}
	return nil
}

// podsNow returns the UIDs of the pods that are not to go.
func (s *stage) podsNow(t *testing.T) (uids []string) {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, cluster.Client.List(t.Context(), list, client.InNamespace(s.namespace), client.HasLabels{"pod-template-hash"}))
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			uids = append(uids, string(pod.UID))
		}
	}
	slices.Sort(uids)
	return uids
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
	objects, err := seen.objects(t.Context(), s.namespace)
	require.NoError(t, err)
	if want.keeps != "" {
		require.Equal(t, s.before[want.keeps].Object["spec"], objects[want.keeps].Object["spec"], "step %d", number)
	}
	if app := objects[s.kind+" "+appName]; app != nil {
		require.Equal(t, s.spec, app.Object["spec"], "step %d: the spec is not as it was written", number)
	}
	next := want.order
	for _, point := range s.line.Points()[len(made):] {
		if len(next) > 0 && !point.DryRun && point.Verb+" "+point.Target == next[0] {
			next = next[1:]
		}
	}
	if len(next) > 0 {
		t.Errorf("step %d: want the requests %q in this order; %q was not made, or too early", number, want.order, next[0])
	}
	if want.requests != nil {
		var got, status []string
		for _, point := range s.line.Points()[len(made):] {
			switch request := point.Verb + " " + point.Target; {
			case point.DryRun:
			case strings.HasSuffix(request, "/status"):
				status = append(status, request)
			default:
				got = append(got, request)
			}
		}
		if len(got) == 0 {
			got = status
		}
		slices.Sort(got)
		if !slices.EqualFunc(got, want.requests, func(made, want string) bool { like, _ := path.Match(want, made); return like }) {
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
