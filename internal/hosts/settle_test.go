package hosts

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// app adds a resource that wants an Ingress for hosts; none for no Ingress.
func (w *world) app(namespace, name string, seconds int, hosts ...string) *actor {
	a := &actor{resource: claimant(namespace, name, seconds)}
	w.actors[named(namespace, name)] = a
	w.want(a, hosts...)
	return a
}

func (w *world) want(a *actor, hosts ...string) {
	a.spec = nil
	if rules := ""; len(hosts) > 0 {
		for _, host := range hosts {
			rules += `{host: "` + host + `"},`
		}
		o := ingress(w.t, `{rules: [`+rules+`]}`)
		o.SetNamespace(a.resource.GetNamespace())
		o.SetName(a.resource.GetName())
		a.spec = []*unstructured.Unstructured{o}
	}
	w.enqueue(client.ObjectKeyFromObject(a.resource))
}

func (w *world) at(a *actor) place {
	return place{kube.Key{GroupKind: ingressKind, Name: a.resource.GetName()}, a.resource.GetNamespace()}
}

// serves fails the test unless exactly these resources have their Ingress.
func (w *world) serves(want ...*actor) {
	w.t.Helper()
	for name, a := range w.actors {
		if got := w.objects[w.at(a)] != nil; got != slices.Contains(want, a) {
			w.t.Errorf("%s serves: %t; it is held back by %v", name, got, a.held)
		}
	}
}

const shop, cart = "shop.example.com", "cart.example.com"

func TestSettle(t *testing.T) {
	cases := map[string]func(t *testing.T, w *world){
		"who serves keeps it, however old the newcomer is": func(t *testing.T, w *world) {
			older, serving := w.app("one", "older", 0), w.app("two", "serving", 9, shop)
			w.rest()
			w.want(older, shop)
			w.rest()
			w.serves(serving)
			if got, want := older.held[0].Err.Error(), shop+"/ is served from another namespace, and a host belongs to one: choose another host"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		},
		"the holder is named within its namespace": func(t *testing.T, w *world) {
			w.app("one", "serving", 9, shop)
			w.rest()
			waiting := w.app("one", "older", 0, shop)
			w.rest()
			var conflict *ConflictError
			if want := `AppService "serving"`; !errors.As(waiting.held[0].Err, &conflict) || conflict.Holder != want {
				t.Errorf("got %v, want a conflict with %s", waiting.held[0].Err, want)
			}
		},
		"of those that wait, the oldest is next": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			w.app("one", "young", 7, shop)
			w.rest()
			old := w.app("two", "old", 3, shop)
			w.app("two", "other", 5, shop)
			w.rest()
			w.want(serving)
			w.rest()
			w.serves(old)
		},
		"a host is not kept for one that waits for another host": func(_ *testing.T, w *world) {
			serving, leaving := w.app("one", "serving", 9, shop), w.app("one", "leaving", 9, cart)
			w.rest()
			w.app("two", "both", 0, shop, cart)
			young := w.app("three", "young", 8, cart)
			w.rest()
			w.want(leaving)
			w.rest()
			w.serves(serving, young)
		},
		"the holder is not robbed while its Ingress is deleted by hand": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			w.app("two", "waiting", 0, shop)
			w.rest()
			w.remove(nil, w.at(serving))
			w.enqueue(named("two", "waiting"))
			w.rest()
			w.serves(serving)
		},
		"a host is free only once the Ingress no longer has it": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			waiting := w.app("two", "waiting", 0, shop)
			w.rest()
			w.want(serving, cart)
			w.take()
			w.next(serving) // settled, not written
			w.enqueue(named("two", "waiting"))
			w.take()
			for !w.next(waiting) {
			}
			w.serves(serving)
			w.rest()
			w.serves(serving, waiting)
		},
		"a host that was just written counts before the informers show it": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.take()
			for !w.next(serving) {
			}
			waiting := w.app("two", "waiting", 0, shop)
			w.want(serving, cart)
			w.look(serving)
			w.settle(serving) // it lets go of the host, and has not written that
			w.look(waiting)
			w.settle(waiting)
			if len(waiting.held) != 1 {
				w.t.Error("the host was taken while it was served")
			}
		},
		"what is paused keeps what is live and waits for nothing": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			waiting := w.app("two", "waiting", 0, shop)
			w.rest()
			for _, a := range []*actor{serving, waiting} {
				a.paused = true
				w.enqueue(client.ObjectKeyFromObject(a.resource))
			}
			third := w.app("two", "third", 1, shop)
			w.rest()
			w.serves(serving)
			w.remove(nil, w.at(serving))
			w.rest()
			w.serves(third)
		},
		"a deleted resource serves until its Ingress is gone": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			waiting := w.app("two", "waiting", 0, shop)
			w.rest()
			delete(w.actors, named("one", "serving"))
			w.enqueue(named("one", "serving"))
			w.rest()
			w.serves()
			w.remove(nil, w.at(serving))
			w.rest()
			w.serves(waiting)
		},
		"a restart changes nothing": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			w.app("two", "older", 0, shop)
			w.rest()
			w.restart()
			w.rest()
			w.serves(serving)
		},
		"of two that are live, the older route stays and the other is reported": func(t *testing.T, w *world) {
			first, second := w.app("one", "first", 9, shop), w.app("two", "second", 0, shop)
			for _, a := range []*actor{first, second} {
				a.journal = map[place]change{}
				w.version += 10
				w.apply(a, a.spec[0])
			}
			w.restart()
			w.rest()
			w.serves(first, second)
			if len(first.held) != 0 || len(second.held) != 1 {
				t.Errorf("held back: %v and %v", first.held, second.held)
			}
			w.want(first)
			w.rest()
			if len(second.held) != 0 {
				t.Errorf("held back: %v", second.held)
			}
		},
		"an object that lost its owner is still its resource's": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 9, shop)
			w.rest()
			w.app("two", "waiting", 0, shop)
			orphan := w.objects[w.at(serving)].DeepCopy()
			orphan.SetOwnerReferences(nil)
			w.objects[w.at(serving)] = orphan
			w.restart()
			w.rest()
			w.serves(serving)
			if len(serving.held) != 0 {
				w.t.Errorf("held back: %v", serving.held)
			}
		},
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t)) })
	}
}

// A move from Ingress to HTTPRoute passes through a moment in which neither is live.
func TestAHostStaysWhereItIsMovedFromIngressToRoute(t *testing.T) {
	w := newWorld(t)
	serving := w.app("one", "serving", 9, shop)
	w.rest()
	w.app("two", "waiting", 0, shop)
	w.rest()
	moved := route(t, `{parentRefs: [{name: g}], hostnames: [`+shop+`]}`)
	moved.SetNamespace("one")
	moved.SetName("serving")
	serving.spec = []*unstructured.Unstructured{moved}
	w.enqueue(named("one", "serving"))
	w.take()
	w.next(serving)
	serving.writes[0], serving.writes[1] = serving.writes[1], serving.writes[0] // the Ingress goes first
	w.next(serving)
	for len(w.events) > 0 {
		w.show()
	}
	if len(w.objects) != 0 {
		t.Fatalf("there is still %v", w.objects)
	}
	w.rest()
	if len(w.objects) != 1 || w.objects[place{kube.KeyOf(moved), "one"}] == nil {
		t.Errorf("got %v", w.objects)
	}
}

func TestForgetIsForEver(t *testing.T) {
	w := newWorld(t)
	w.app("one", "serving", 9, shop)
	w.rest()
	waiting := w.app("two", "waiting", 0, shop)
	w.rest()
	w.hosts.Forget(appService.GroupKind(), types.NamespacedName{Namespace: "two", Name: "waiting"})
	if len(w.hosts.wanted) != 1 || len(waiting.held) != 1 {
		t.Errorf("got %v", w.hosts.wanted)
	}
}
