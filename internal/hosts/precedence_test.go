package hosts

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// becomes says whether the application of a resource is ready.
func (w *world) becomes(a *actor, ready bool) {
	a.ready = ready
	w.enqueue(client.ObjectKeyFromObject(a.resource))
	w.rest()
}

func TestWhoGoesBeforeWhoServes(t *testing.T) {
	granted := func(namespace string) rulesOf { return rulesOf{granted: map[string]string{shop: namespace}} }
	cases := map[string]func(t *testing.T, w *world){
		"who was never ready gives way to who is": func(_ *testing.T, w *world) {
			never, ready := w.app("one", "never", 0, shop), w.app("two", "ready", 9)
			w.becomes(ready, true)
			w.serves(never)
			w.want(ready, shop)
			w.rest()
			w.serves(ready)
			w.becomes(never, true)
			w.serves(ready)
		},
		"as soon as that one is": func(_ *testing.T, w *world) {
			never := w.app("one", "never", 0, shop)
			w.rest()
			waiting := w.app("two", "waiting", 9, shop)
			w.rest()
			w.serves(never)
			w.becomes(waiting, true)
			w.serves(waiting)
		},
		"who was ready once keeps it through an outage": func(_ *testing.T, w *world) {
			serving, other := w.app("one", "serving", 0, shop), w.app("two", "other", 9, shop)
			w.becomes(serving, true)
			w.becomes(serving, false)
			w.becomes(other, true)
			w.serves(serving)
		},
		"also if the process starts again meanwhile": func(_ *testing.T, w *world) {
			serving, other := w.app("one", "serving", 0, shop), w.app("two", "other", 9, shop)
			w.becomes(serving, true)
			w.becomes(serving, false)
			w.becomes(other, true)
			w.restart()
			w.rest()
			w.serves(serving)
		},
		"who was never ready gives way after a restart, too": func(_ *testing.T, w *world) {
			never, ready := w.app("one", "never", 0, shop), w.app("two", "ready", 9)
			w.becomes(ready, true)
			w.restart()
			w.want(ready, shop)
			w.rest()
			w.serves(ready)
			if never.held == nil {
				w.t.Error("who lost it does not say so")
			}
		},
		"of whom nothing is known yet keeps it": func(_ *testing.T, w *world) {
			never, ready := w.app("one", "never", 0, shop), w.app("two", "ready", 9, shop)
			w.rest()
			w.restart()
			ready.proven = true
			w.look(ready)
			w.settle(ready) // before the other is looked at
			w.serves(never)
			if len(ready.held) != 1 || len(w.hosts.Yields(appService.GroupKind(), named("one", "never"))) != 0 {
				w.t.Error("it is taken")
			}
		},
		"a status from before it was ready changes nothing": func(_ *testing.T, w *world) {
			serving, other := w.app("one", "serving", 0, shop), w.app("two", "other", 9, shop)
			w.becomes(serving, true)
			w.hosts.Note(appService.GroupKind(), named("one", "serving"), false)
			w.becomes(other, true)
			w.serves(serving)
		},
		"who is paused gives way as well": func(_ *testing.T, w *world) {
			never, ready := w.app("one", "never", 0, shop), w.app("two", "ready", 9)
			w.rest()
			never.paused = true
			w.becomes(never, false)
			w.becomes(ready, true)
			w.want(ready, shop)
			w.rest()
			w.serves(ready)
		},
		"who has it although it never ran goes only for one that has all it asks for": func(_ *testing.T, w *world) {
			never, ready := w.app("one", "never", 0, shop), w.app("two", "ready", 9)
			serving := w.app("three", "serving", 5, cart)
			w.becomes(serving, true)
			w.becomes(ready, true)
			w.want(ready, shop, cart)
			w.rest()
			w.becomes(never, false) // it looks again whether it has to go
			w.serves(never, serving)
		},
		"of those that wait, who was ready goes before who is older": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.becomes(serving, true)
			w.app("two", "older", 0, shop)
			ready := w.app("three", "ready", 5, shop)
			w.becomes(ready, true)
			w.want(serving)
			w.rest()
			w.serves(ready)
		},
		"who is about to write it is asked first": func(_ *testing.T, w *world) {
			never, ready := w.app("one", "never", 0, shop), w.app("two", "ready", 9)
			w.take()
			w.next(never)
			w.next(never) // settled: it is granted, and not written yet
			ready.ready, ready.proven = true, true
			w.want(ready, shop)
			w.look(ready)
			w.settle(ready)
			if len(ready.held) != 1 {
				w.t.Error("both may write it")
			}
			w.rest()
			w.serves(ready)
		},
		"a grant goes before who serves": func(t *testing.T, w *world) {
			serving, other := w.app("one", "serving", 0, shop), w.app("two", "granted", 9, shop)
			w.becomes(serving, true)
			w.serves(serving)
			w.rule(granted("two"))
			w.rest()
			w.serves(other)
			if text := serving.held[0].Err.Error(); !strings.Contains(text, "granted to another namespace by the platform's policy") {
				t.Error(text)
			}
		},
		"and is over when it is taken back, for whoever comes next": func(_ *testing.T, w *world) {
			serving, other := w.app("one", "serving", 0, shop), w.app("two", "granted", 9, shop)
			w.becomes(serving, true)
			w.rule(granted("two"))
			w.becomes(other, true)
			w.rule(rulesOf{})
			w.rest()
			w.serves(other)
			w.want(other)
			w.rest()
			w.serves(serving)
		},
		"a grant of one host does not bring along another": func(_ *testing.T, w *world) {
			serving, other := w.app("one", "serving", 0, cart), w.app("two", "granted", 9, shop, cart)
			w.becomes(serving, true)
			w.rule(granted("two"))
			w.becomes(other, true)
			w.serves(serving)
		},
		"what the platform does not allow is held back until it does, and takes nothing": func(_ *testing.T, w *world) {
			w.rule(rulesOf{refused: []string{shop}})
			refused := w.app("one", "refused", 0, shop)
			w.becomes(refused, true)
			w.serves()
			w.rule(rulesOf{})
			w.rest()
			w.serves(refused)
		},
		"what is live when the platform forbids it stays": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 0, shop)
			w.becomes(serving, true)
			w.rule(rulesOf{refused: []string{shop}})
			w.rest()
			w.serves(serving)
			if len(serving.held) != 1 {
				w.t.Error("nothing is said of it")
			}
		},
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t)) })
	}
}
