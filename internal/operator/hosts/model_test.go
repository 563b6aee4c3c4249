package hosts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// anyRoutes makes the route objects of a resource.
func anyRoutes(t testing.TB, random *rand.Rand, name types.NamespacedName) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	host := func() string {
		return []string{"a.example.com", "b.example.com", "c.example.com", `d.example.org`}[random.IntN(4)]
	}
	path := func() string { return []string{"/", "/", "/x", "/x/y", "/z"}[random.IntN(5)] }
	if random.IntN(3) > 0 {
		rules := ""
		for range 1 + random.IntN(2) {
			rules += fmt.Sprintf(`{host: %s, http: {paths: [{path: %s, pathType: Prefix}]}},`, host(), path())
		}
		list = append(list, ingress(t, `{ingressClassName: nginx, rules: [`+rules+`]}`))
	}
	if random.IntN(3) == 0 {
		hostnames := "hostnames: [" + host() + "], "
		list = append(list, httpRoute(t, fmt.Sprintf(`{parentRefs: [{name: public, namespace: infra}], %srules: [{matches: [{path: {type: PathPrefix, value: %s}}]}]}`, hostnames, path())))
	}
	return routesFor(name, list)
}

// routesFor are routes as another resource renders them.
func routesFor(name types.NamespacedName, routes []*unstructured.Unstructured) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, o := range routes {
		o = o.DeepCopy()
		o.SetNamespace(name.Namespace)
		o.SetName(name.Name)
		list = append(list, o)
	}
	return list
}

// TestNobodyTakesWhatAnotherServes lets resources come, change, pause and go, objects be deleted by hand, informers lag and processes
// restart, in any order. Reconciles only run if something asks for them.
func TestNobodyTakesWhatAnotherServes(t *testing.T) {
	held := 0
	for seed := range uint64(160) {
		random := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t)
		if seed%2 == 0 {
			w.rule(rulesOf{shared: []string{"a.example.com", "*.example.com"}})
		}
		var names []types.NamespacedName
		for i := range 5 {
			names = append(names, named([]string{"one", "two", "three"}[i%int(1+seed%3)], fmt.Sprint("app", i)))
		}
		for range 150 {
			step(t, w, random, names)
			if list := w.conflicts(false); len(list) > 0 {
				t.Fatalf("seed %d: %v", seed, list)
			}
		}
		w.rest()
		if list := w.conflicts(true); len(list) > 0 {
			t.Fatalf("seed %d, at rest: %v", seed, list)
		}
		for _, name := range sorted(w.actors) {
			a := w.actors[name]
			if a.paused {
				continue
			}
			held += len(a.held)
			checkAtRest(t, w, a, seed)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if held < 50 {
		t.Errorf("only %d routes had to wait in the end", held)
	}
}

func step(t testing.TB, w *world, random *rand.Rand, names []types.NamespacedName) {
	name := names[random.IntN(len(names))]
	a := w.actors[name]
	switch n := random.IntN(100); {
	case n < 35 && len(w.events) > 0:
		w.show()
	case n < 75:
		var busy []*actor
		for _, name := range names {
			if a := w.actors[name]; a != nil && a.snapshot != nil {
				busy = append(busy, a)
			}
		}
		if pick := random.IntN(len(busy) + 1); pick < len(busy) {
			w.next(busy[pick])
		} else if w.queue.Len() > 0 {
			w.take()
		}
	case n < 92:
		if a == nil {
			a = &actor{resource: newApp(name.Namespace, name.Name, random.IntN(3))}
			a.resource.SetUID(types.UID(fmt.Sprint(w.version, random.Uint64())))
			w.actors[name] = a
		}
		other := names[random.IntN(len(names))]
		if b := w.actors[other]; b != nil && other.Namespace == name.Namespace && random.IntN(2) == 0 {
			swapped := routesFor(name, b.spec)
			b.spec = routesFor(other, a.spec)
			a.spec = swapped
			w.enqueue(other)
		} else {
			a.spec, a.paused = anyRoutes(t, random, name), random.IntN(10) == 0
		}
		w.enqueue(name)
	case n < 95:
		if a != nil && a.snapshot == nil { // the garbage collector follows
			delete(w.actors, name)
			for _, at := range sorted(w.objects) {
				if controllerOf(w.objects[at]).NamespacedName == name {
					w.remove(nil, at)
				}
			}
			w.enqueue(name)
		}
	case n < 98:
		if list := sorted(w.objects); len(list) > 0 {
			w.remove(nil, list[random.IntN(len(list))])
		}
	default:
		w.restart()
	}
}

// checkAtRest fails unless a resource has the hosts that it requests, or another one has them and may keep them.
func checkAtRest(t *testing.T, w *world, a *actor, seed uint64) {
	t.Helper()
	for _, o := range a.spec {
		at := routeKey{kube.KeyOf(o), o.GetNamespace()}
		if live := w.objects[at]; live != nil && slices.Equal(RoutePathsOf(live), RoutePathsOf(o)) {
			continue
		}
		s := &candidate{owner: ownerOf(a.resource), route: at, paths: RoutePathsOf(o)}
		taken := false
		for _, other := range w.objects {
			taken = taken || s.conflictsWithAny(live(other), w.rules)
		}
		for _, other := range w.actors { // who serves a host keeps it while its route is deleted by hand
			serves := servedBy(other.resource)
			taken = taken || other != a && slices.ContainsFunc(s.paths, func(p RoutePath) bool { return !serves[p.Host].IsZero() })
		}
		if !taken || !slices.ContainsFunc(a.held, func(h HeldRoute) bool { return h.Key == at.Key }) {
			t.Fatalf("seed %d: %s waits for %v, taken %t, held back %v", seed, client.ObjectKeyFromObject(a.resource), s.paths, taken, a.held)
		}
	}
}
