package hosts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// app adds a resource that requests an Ingress for hosts; none for no Ingress.
func (w *world) app(namespace, name string, seconds int, hosts ...string) *actor {
	a := &actor{resource: newApp(namespace, name, seconds)}
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

func (w *world) at(a *actor) routeKey {
	return routeKey{kube.Key{GroupKind: ingressKind, Name: a.resource.GetName()}, a.resource.GetNamespace()}
}

// foreign makes an Ingress that no resource controls.
func (w *world) foreign(namespace, name, host string) {
	made := ingress(w.t, `{rules: [{host: `+host+`}]}`)
	made.SetNamespace(namespace)
	made.SetName(name)
	w.others(made)
}

// others has someone else make a route.
func (w *world) others(made *unstructured.Unstructured) {
	by := &actor{resource: newApp(made.GetNamespace(), "none", 0), journal: map[routeKey]change{}}
	w.apply(by, made)
	last := &w.events[len(w.events)-1]
	last.object.SetOwnerReferences(nil)
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

// have fails the test unless the Ingress of a resource is for exactly these hosts.
func (w *world) have(a *actor, want ...string) {
	w.t.Helper()
	var got []string
	if live := w.objects[w.at(a)]; live != nil {
		for _, path := range RoutePathsOf(live) {
			got = append(got, path.Host)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("%s has %v, want %v; it is held back by %v", a.resource.GetName(), got, want, a.held)
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
			if got, want := older.held[0].Err.Error(), shop+"/ is already used by another namespace (only one namespace may use a host)"; got != want {
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
		"a host is free only once the Ingress no longer has it": func(t *testing.T, _ *world) {
			for _, namespace := range []string{"one", "two"} {
				w := newWorld(t)
				serving := w.app("one", "serving", 9, shop)
				w.rest()
				waiting := w.app(namespace, "waiting", 0, shop)
				w.rest()
				w.want(serving, cart)
				w.take()
				w.next(serving) // settled, not written
				w.enqueue(named(namespace, "waiting"))
				w.take()
				for !w.next(waiting) {
				}
				w.serves(serving)
				w.rest()
				w.serves(serving, waiting)
			}
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
			w.serves() // its spec still names the host
			delete(w.actors, named("one", "serving"))
			w.enqueue(named("one", "serving"))
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
		"of two that are live, both stay, are repaired, and the younger says so": func(t *testing.T, w *world) {
			first, second := w.app("one", "first", 9, shop), w.app("two", "second", 0, shop)
			for _, a := range []*actor{first, second} {
				a.journal = map[routeKey]change{}
				w.version += 10
				w.apply(a, a.spec[0])
			}
			w.restart()
			w.rest()
			w.serves(first, second)
			if len(first.held)+len(first.beside) != 0 || len(second.held) != 0 || len(second.beside) != 1 {
				t.Errorf("held back: %v and %v, beside: %v and %v", first.held, second.held, first.beside, second.beside)
			}
			w.remove(nil, w.at(second))
			w.rest()
			w.serves(first, second)
			w.want(second, shop, cart)
			third := w.app("three", "third", 1, shop)
			w.rest()
			w.serves(first, second)
			if len(second.held) != 0 || len(third.held) != 1 {
				t.Errorf("held back: %v and %v", second.held, third.held)
			}
			w.want(first)
			w.rest()
			if len(second.beside) != 0 {
				t.Errorf("beside: %v", second.beside)
			}
		},
		"the route of another writer keeps its host, with all its paths": func(_ *testing.T, w *world) {
			w.foreign("argocd", "server", "login.example.com")
			tenant := w.app("ten", "login", 0, "login.example.com")
			w.rest()
			w.serves()
			if len(tenant.held) != 1 {
				w.t.Error("the host is taken")
			}
			w.remove(nil, routeKey{kube.Key{GroupKind: ingressKind, Name: "server"}, "argocd"})
			w.rest()
			w.serves(tenant)
		},
		"a GRPCRoute of another writer keeps its host": func(t *testing.T, w *world) {
			made := object(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, metadata: {name: a, namespace: one},
				spec: {parentRefs: [{name: g}], hostnames: [`+shop+`], rules: [{matches: [{method: {service: s, method: m}}]}]}}`)
			w.others(made)
			tenant := w.app("ten", "shop", 0, shop)
			w.rest()
			w.serves()
			if len(tenant.held) != 1 {
				t.Error("the host is taken")
			}
		},
		"a route of another writer that is for all hosts, or a wildcard, takes none": func(t *testing.T, w *world) {
			for name, spec := range map[string]string{
				"backend": `{defaultBackend: {service: {name: web}}}`, "rule": `{rules: [{http: {paths: [{path: /, pathType: Prefix}]}}]}`,
				"wildcard": `{rules: [{host: "*.example.com"}, {host: "*.com"}]}`,
			} {
				made := ingress(t, spec)
				made.SetName(name)
				w.apply(&actor{resource: newApp("demo", "squat", 0), journal: map[routeKey]change{}}, made) // with a forged owner
				made.SetName(name + "-plain")
				w.others(made)
			}
			late := w.app("ten", "late", 9, shop)
			w.rest()
			w.serves(late)
		},
		"a live host is not taken by writing an Ingress, also while its own is made again": func(_ *testing.T, w *world) {
			for _, sameSecond := range []bool{false, true} {
				w := newWorld(w.t)
				serving := w.app("one", "serving", 0, shop)
				w.rest()
				began := metav1.NewTime(w.hosts.now())
				w.remove(nil, w.at(serving))
				w.foreign("a", "thief", shop)
				if sameSecond {
					w.events[len(w.events)-1].object.SetCreationTimestamp(began)
				}
				w.restart()
				w.rest()
				w.serves(serving)
				if len(serving.beside) != 0 {
					w.t.Errorf("same second: %t, its status says %v", sameSecond, serving.beside)
				}
			}
		},
		"a grant lets its namespace write beside a live route, and deletes none": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 0, shop)
			w.rest()
			granted := w.app("two", "granted", 9, shop)
			w.rest()
			w.rule(rulesOf{granted: map[string]string{shop: "two"}})
			w.rest()
			w.serves(serving, granted)
			if len(serving.held) != 0 || len(serving.beside) != 1 || len(granted.beside) != 0 {
				w.t.Errorf("beside: %v and %v", serving.beside, granted.beside)
			}
			w.want(serving)
			w.rest()
			w.want(serving, shop)
			w.rest()
			w.serves(granted)
			if text := serving.held[0].Err.Error(); !strings.Contains(text, "granted to another namespace by the platform's policy") {
				w.t.Error(text)
			}
		},
		"what the platform does not allow is held back until it does, and takes nothing": func(_ *testing.T, w *world) {
			w.rule(rulesOf{refused: []string{"*.example.com"}})
			refused := w.app("one", "refused", 0, "*.example.com")
			serving := w.app("two", "serving", 9, shop)
			w.rest()
			w.serves(serving)
			if w.hosts.all.hosts.Len() != 1 {
				w.t.Error("the refused wildcard is in the index")
			}
			w.want(serving)
			w.rule(rulesOf{})
			w.rest()
			w.serves(refused)
		},
		"what is live when the platform forbids it stays": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 0, shop)
			w.rest()
			w.rule(rulesOf{refused: []string{shop}})
			w.rest()
			w.serves(serving)
			if len(serving.held) != 1 {
				w.t.Error("nothing is said of it")
			}
		},
		"a wildcard waits for a host below it, and a host for a wildcard": func(_ *testing.T, w *world) {
			serving := w.app("one", "serving", 0, shop)
			w.rest()
			wildcard := w.app("two", "wildcard", 1, "*.example.com")
			w.rest()
			w.serves(serving)
			w.want(serving)
			w.rest()
			w.serves(wildcard)
			w.want(serving, shop)
			w.restart()
			w.rest()
			w.serves(wildcard)
		},
		"a wildcard holds the hosts below it against other namespaces only": func(_ *testing.T, w *world) {
			wildcard := w.app("one", "wildcard", 0, "*.example.com")
			w.rest()
			beside := w.app("one", "beside", 8, cart)
			w.app("two", "late", 9, shop)
			w.rest()
			w.serves(wildcard, beside)
		},
		"who comes below a wildcard of others is warned, until that goes": func(t *testing.T, w *world) {
			own := w.app("one", "own", 0, "own.example.com")
			w.rest()
			w.foreign("edge", "all", `"*.example.com"`)
			w.foreign("one", "same", `"*.example.org"`)
			late, beside := w.app("two", "late", 9, shop), w.app("one", "beside", 9, "*.example.org")
			w.rest()
			w.restart()
			w.rest()
			w.serves(own, late, beside)
			if len(own.beside)+len(beside.beside) > 0 || len(late.beside) != 1 || late.beside[0].Error() != shop+"/ is below a wildcard of a route in another namespace" {
				t.Errorf("beside: %v, %v and %v", own.beside, beside.beside, late.beside)
			}
			for _, rules := range []rulesOf{{named: []string{shop}}, {granted: map[string]string{shop: "two"}}} {
				w.rule(rules)
				w.rest()
				if len(late.beside) > 0 {
					t.Errorf("%v: beside: %v", rules, late.beside)
				}
			}
			w.rule(rulesOf{})
			w.rest()
			w.remove(nil, routeKey{kube.Key{GroupKind: ingressKind, Name: "all"}, "edge"})
			w.rest()
			if len(late.beside)+len(w.hosts.below) > 0 || len(w.hosts.wildcards.buckets) != 1 {
				t.Errorf("beside: %v; what is left: %v, %v", late.beside, w.hosts.below, w.hosts.wildcards.buckets)
			}
		},
		"where the platform refuses hosts below a wildcard of others, they wait for it": func(t *testing.T, w *world) {
			serving := w.app("two", "serving", 9, cart)
			w.rest()
			w.rule(rulesOf{closed: []string{shop, cart}})
			w.foreign("edge", "all", `"*.example.com"`)
			w.rest()
			late := w.app("two", "late", 9, shop)
			w.remove(nil, w.at(serving))
			w.restart()
			w.rest()
			w.serves(serving)
			if len(late.held) != 1 || len(serving.held) > 0 {
				t.Errorf("held back: %v and %v", late.held, serving.held)
			}
			w.hosts.Gone(appService.GroupKind(), named("three", "other"))
			w.remove(nil, routeKey{kube.Key{GroupKind: ingressKind, Name: "all"}, "edge"})
			w.rest()
			w.serves(serving, late)
		},
		"what an operator before served is served on, a wildcard beside a host below it, too": func(t *testing.T, _ *world) {
			for _, noted := range []bool{true, false} {
				for _, wide := range []string{"*.example.com", "*.com"} {
					w := newWorld(t)
					wildcard, below := w.app("one", "wildcard", 0, wide), w.app("two", "below", 9, shop)
					for _, a := range []*actor{wildcard, below} {
						a.journal = map[routeKey]change{}
						w.version += 10
						w.apply(a, a.spec[0])
						if noted {
							a.resource.Object["status"] = map[string]any{"hosts": []any{
								map[string]any{"host": RoutePathsOf(a.spec[0])[0].Host, "since": "2026-01-01T00:00:00Z"},
							}}
						}
					}
					w.foreign("edge", "all", `"*.example.com"`)
					w.rules = rulesOf{closed: []string{shop, wide}}
					w.restart()
					w.rest()
					w.remove(nil, w.at(below))
					w.remove(nil, w.at(wildcard))
					w.rest()
					w.serves(wildcard, below)
					if len(wildcard.held)+len(below.held) > 0 {
						t.Errorf("noted: %t, held back: %v and %v", noted, wildcard.held, below.held)
					}
				}
			}
		},
		"a status that somebody else wrote counts for nothing once it is reconciled": func(_ *testing.T, w *world) {
			forger := w.app("one", "forger", 0)
			w.want(forger, cart)
			w.rest()
			forger.resource.Object["status"] = map[string]any{"hosts": []any{map[string]any{"host": shop, "since": "1970-01-01T00:00:00Z"}}}
			w.hosts.learn(forger.resource)
			other := w.app("two", "other", 9, shop)
			w.want(forger, shop, cart)
			w.take()
			w.rest()
			if len(forger.held)+len(other.held) != 1 || len(other.beside) != 0 {
				w.t.Errorf("held back: %v and %v", forger.held, other.held)
			}
		},
		"a status is believed from the creation of its resource at the earliest": func(t *testing.T, w *world) {
			forger := w.app("one", "forger", 9, shop)
			forger.resource.Object["status"] = map[string]any{"hosts": []any{map[string]any{"host": shop, "since": "1970-01-01T00:00:00Z"}}}
			if got := servedBy(forger.resource)[shop]; !got.Equal(forger.resource.GetCreationTimestamp().Time) {
				t.Errorf("since %s", got)
			}
		},
		"two of a namespace swap their hosts": func(_ *testing.T, w *world) {
			blue, green := w.app("one", "blue", 0, shop), w.app("one", "green", 9, cart)
			w.rest()
			w.want(blue, cart)
			w.want(green, shop)
			w.rest()
			w.have(blue, cart)
			w.have(green, shop)
		},
		"three of a namespace swap their hosts in a ring, when the last one may": func(_ *testing.T, w *world) {
			a, b, c := w.app("one", "a", 0, "a.com"), w.app("one", "b", 1, "b.com"), w.app("one", "c", 2, "c.com")
			other := w.app("two", "other", 3, shop)
			w.rest()
			w.want(a, "b.com")
			w.want(b, "c.com", shop)
			w.want(c, "a.com")
			w.rest()
			w.have(a, "a.com")
			w.have(b, "b.com")
			w.have(c, "c.com")
			w.want(other)
			w.rest()
			w.have(a, "b.com")
			w.have(b, "c.com", shop)
			w.have(c, "a.com")
		},
		"who is swapped out of its host has it until all have asked": func(_ *testing.T, w *world) {
			blue, green := w.app("one", "blue", 0, shop), w.app("one", "green", 9, cart)
			w.rest()
			w.want(blue, cart)
			w.rest()
			w.have(blue, shop)
			green.paused = true
			w.want(green, shop)
			w.rest()
			w.have(blue, shop)
			green.paused = false
			w.want(green, shop)
			w.restart()
			w.rest()
			w.have(blue, cart)
			w.have(green, shop)
		},
		"of two that want the same host of a ring, one gets it": func(_ *testing.T, w *world) {
			a, b, c := w.app("one", "a", 0, "a.com"), w.app("one", "b", 1, "b.com"), w.app("one", "c", 2, "c.com")
			w.rest()
			w.want(a, "b.com")
			w.want(b, "c.com")
			w.want(c, "b.com")
			w.rest()
			w.have(a, "a.com")
			w.have(b, "c.com")
			w.have(c, "b.com")
		},
		"a swap takes nothing that its holder still wants": func(_ *testing.T, w *world) {
			blue, green := w.app("one", "blue", 0, shop), w.app("one", "green", 9, cart)
			w.rest()
			w.want(blue, cart)
			w.want(green, cart, shop)
			w.rest()
			w.have(blue, shop)
			w.have(green, cart)
		},
		"two namespaces do not swap": func(_ *testing.T, w *world) {
			blue, green := w.app("one", "blue", 0, shop), w.app("two", "green", 9, cart)
			w.rest()
			w.want(blue, cart)
			w.want(green, shop)
			w.rest()
			w.have(blue, shop)
			w.have(green, cart)
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
	moved := httpRoute(t, `{parentRefs: [{name: g}], hostnames: [`+shop+`]}`)
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
	if len(w.objects) != 1 || w.objects[routeKey{kube.KeyOf(moved), "one"}] == nil {
		t.Errorf("got %v", w.objects)
	}
}

func TestWhatIsGoneIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.app("one", "serving", 9, shop)
	w.rest()
	waiting := w.app("two", "waiting", 0, shop)
	w.rest()
	w.hosts.Gone(appService.GroupKind(), types.NamespacedName{Namespace: "two", Name: "waiting"})
	if len(w.hosts.known) != 1 || len(waiting.held) != 1 {
		t.Errorf("got %v", w.hosts.known)
	}
}
