package hosts

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// world is a cluster and a process that reconciles resources in it. Nothing happens automatically: tests say what comes next.
type world struct {
	t       testing.TB
	version int
	objects map[routeKey]*unstructured.Unstructured // as the API server has them
	shown   map[routeKey]*unstructured.Unstructured // as the informers have them
	events  []change                                // that the informers have still to show
	hosts   *Hosts
	queue   queue
	actors  map[types.NamespacedName]*actor
	rules   rulesOf
}

type change struct {
	object  *unstructured.Unstructured
	deleted bool
}

// actor is one resource, the hosts that its spec requests, and the progress of its reconcile.
type actor struct {
	resource *unstructured.Unstructured
	spec     []*unstructured.Unstructured // its route objects
	paused   bool
	beside   []error
	// snapshot and writes of a reconcile that is under way; journal is what it wrote and the informers do not show.
	snapshot map[kube.Key]client.Object
	writes   []func()
	journal  map[routeKey]change
	held     []HeldRoute
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, objects: map[routeKey]*unstructured.Unstructured{}, actors: map[types.NamespacedName]*actor{}}
	w.restart()
	return w
}

// sorted lists the keys of a map, always in the same order: a seed must play the same again.
func sorted[K comparable, V any](of map[K]V) []K {
	return slices.SortedFunc(maps.Keys(of), func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// restart begins a new process, whose informers show all there is.
func (w *world) restart() {
	w.hosts, w.events, w.shown = New(nil, nil, nil, w), nil, maps.Clone(w.objects)
	w.hosts.now = func() time.Time { return start.Add(time.Duration(w.version) * time.Second) }
	w.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	w.t.Cleanup(w.queue.ShutDown)
	w.hosts.queues[appService.GroupKind()] = w.queue
	for _, o := range w.shown {
		w.see(o, false)
	}
	for _, name := range sorted(w.actors) {
		a := w.actors[name]
		w.hosts.learn(a.resource)
		a.snapshot, a.writes, a.journal, a.held = nil, nil, map[routeKey]change{}, nil
		w.enqueue(name)
	}
}

func (w *world) enqueue(name types.NamespacedName) {
	w.queue.Add(reconcile.Request{NamespacedName: name})
}

// apply makes or changes an object, as the API server does.
func (w *world) apply(by *actor, o *unstructured.Unstructured) {
	at := routeKey{kube.KeyOf(o), o.GetNamespace()}
	w.version++
	o = o.DeepCopy()
	o.SetResourceVersion(strconv.Itoa(w.version))
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: appService.GroupVersion().String(), Kind: appService.Kind, Name: by.resource.GetName(), UID: by.resource.GetUID(), Controller: ptr.To(true),
	}})
	if before := w.objects[at]; before != nil {
		o.SetCreationTimestamp(before.GetCreationTimestamp())
	} else {
		o.SetCreationTimestamp(metav1.NewTime(start.Add(time.Duration(w.version) * time.Second)))
	}
	w.objects[at] = o
	w.events = append(w.events, change{o, false})
	by.journal[at] = change{o, false}
}

// remove deletes an object; by is nil if that is someone else.
func (w *world) remove(by *actor, at routeKey) {
	before := w.objects[at]
	if before == nil {
		return
	}
	w.version++
	gone := before.DeepCopy()
	gone.SetResourceVersion(strconv.Itoa(w.version))
	delete(w.objects, at)
	w.events = append(w.events, change{gone, true})
	if by != nil {
		by.journal[at] = change{gone, true}
	}
}

// show lets the informers show the next change.
func (w *world) show() {
	next := w.events[0]
	w.events = w.events[1:]
	at := routeKey{kube.KeyOf(next.object), next.object.GetNamespace()}
	if w.shown[at] = next.object; next.deleted {
		delete(w.shown, at)
	}
	w.see(next.object, next.deleted)
	name := controllerOf(next.object).NamespacedName
	a := w.actors[name]
	if a == nil {
		return
	}
	if note, noted := a.journal[at]; noted && !kube.Older(next.object, note.object) {
		delete(a.journal, at)
		if note.object == next.object {
			return // an echo
		}
	}
	w.enqueue(name)
}

// look, settle and write are the steps of a reconcile.
func (w *world) look(a *actor) {
	name := client.ObjectKeyFromObject(a.resource)
	if a.journal == nil {
		a.journal = map[routeKey]change{}
		w.hosts.Gone(appService.GroupKind(), name) // another one had the name before
	}
	a.snapshot = w.shows(a)
}

// shows returns the live objects of a resource as its reconcile sees them: its own writes are there at once.
func (w *world) shows(a *actor) map[kube.Key]client.Object {
	objects := map[kube.Key]client.Object{}
	overlay := maps.Clone(w.shown)
	for at, note := range a.journal {
		if overlay[at] = note.object; note.deleted {
			delete(overlay, at)
		}
	}
	for at, o := range overlay {
		if metav1.IsControlledBy(o, a.resource) { // not by an earlier one of its name
			objects[at.Key] = o
		}
	}
	return objects
}

// see shows an event to the hosts, as the informer of the kind does.
func (w *world) see(o *unstructured.Unstructured, deleted bool) {
	w.hosts.see(feed{GroupKind: o.GroupVersionKind().GroupKind(), others: len(o.GetOwnerReferences()) == 0}, o, deleted)
}

func (w *world) settle(a *actor) {
	a.writes, a.held = nil, nil
	name := client.ObjectKeyFromObject(a.resource)
	if a.paused {
		w.hosts.Rest(a.resource)
		return
	}
	a.held = w.hosts.settle(a.resource, RequestedBy(a.spec), a.snapshot)
	left := map[kube.Key]bool{}
	for _, held := range a.held {
		left[held.Key] = true
	}
	for _, o := range a.spec {
		key := kube.KeyOf(o)
		live := a.snapshot[key]
		if !left[key] && (live == nil || !slices.Equal(RoutePathsOf(live.(*unstructured.Unstructured)), RoutePathsOf(o))) {
			a.writes = append(a.writes, func() { w.apply(a, o) })
		}
		left[key] = true
	}
	for _, key := range sorted(a.snapshot) {
		if !left[key] {
			a.writes = append(a.writes, func() { w.remove(a, routeKey{key, name.Namespace}) })
		}
	}
}

// report writes the status of a resource.
func (w *world) report(a *actor) {
	var list []v1.HostStatus
	list, a.beside = w.hosts.Serving(a.resource, w.shows(a))
	status := v1.AppServiceStatus{Hosts: list}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		w.t.Fatal(err)
	}
	a.resource = a.resource.DeepCopy()
	a.resource.Object["status"] = fields
}

// next does the next step of the reconcile of a resource, and reports whether that was its last.
func (w *world) next(a *actor) (done bool) {
	switch {
	case a.snapshot == nil:
		w.look(a)
		return false
	case a.writes == nil:
		w.settle(a)
		a.writes = append(a.writes, func() { w.report(a) })
		return false
	}
	a.writes[0]()
	if a.writes = a.writes[1:]; len(a.writes) > 0 {
		return false
	}
	a.snapshot, a.writes = nil, nil
	w.queue.Done(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(a.resource)})
	return true
}

// rest lets everything happen that is under way.
func (w *world) rest() {
	for range 10_000 {
		switch {
		case len(w.events) > 0:
			w.show()
		case w.queue.Len() > 0:
			w.take()
		default:
			busy := false
			for _, name := range sorted(w.actors) {
				if a := w.actors[name]; a.snapshot != nil {
					busy = true
					w.next(a)
				}
			}
			if !busy {
				return
			}
		}
	}
	w.t.Fatal("it does not come to rest")
}

// take begins the reconcile of the next resource in the queue.
func (w *world) take() {
	request, _ := w.queue.Get()
	a := w.actors[request.NamespacedName]
	if a == nil {
		w.hosts.Gone(appService.GroupKind(), request.NamespacedName)
		w.queue.Done(request)
		return
	}
	w.next(a)
}

// rulesOf are rules by lists: what is shared by all, what is granted to namespaces, and what nobody may use.
type rulesOf struct {
	shared  []string
	granted map[string]string // namespaces by host
	refused []string
	// closed are hosts below wildcards of others that nobody may use, named those that nobody has to be warned of.
	closed, named []string
}

func (r rulesOf) Shared(_, host string) bool { return slices.Contains(r.shared, host) }

func (r rulesOf) Granted(namespace, host string) bool { return r.granted[host] == namespace }

func (r rulesOf) Refused(_ string, _ kube.Key, path RoutePath) error {
	if slices.Contains(r.refused, path.Host) {
		return fmt.Errorf("%s is not allowed", path)
	}
	return nil
}

func (r rulesOf) Below(_, host string) (may, named bool) {
	return !slices.Contains(r.closed, host), slices.Contains(r.named, host)
}

// Below, Shared, Granted and Refused implement Rules by those that are in use.
func (w *world) Below(namespace, host string) (may, named bool) {
	return w.rules.Below(namespace, host)
}
func (w *world) Shared(namespace, host string) bool  { return w.rules.Shared(namespace, host) }
func (w *world) Granted(namespace, host string) bool { return w.rules.Granted(namespace, host) }
func (w *world) Refused(namespace string, route kube.Key, path RoutePath) error {
	return w.rules.Refused(namespace, route, path)
}

// rule puts other rules to use, and asks for a reconcile of each resource.
func (w *world) rule(rules rulesOf) {
	w.rules = rules
	for _, name := range sorted(w.actors) {
		w.enqueue(name)
	}
}

// conflicts lists live routes of different resources that have the same path. Two of a namespace may for a while, while one of them has yet
// to let go of it, and for ever if that one requests it again meanwhile: then one of them says so.
func (w *world) conflicts(rest bool) []string {
	var list []string
	for at, o := range w.objects {
		for other, p := range w.objects {
			a, b := live(o), live(p)
			if at.namespace == other.namespace && (!rest || w.says(a) || w.says(b)) {
				continue
			}
			if a.conflictsWithAny(b, w.rules) {
				list = append(list, fmt.Sprintf("%s %v, %s %v", at, a.paths, other, b.paths))
			}
		}
	}
	return list
}

// says reports whether the owner of a live route says that another one serves the same.
func (w *world) says(s *candidate) bool {
	a := w.actors[s.owner.NamespacedName]
	return a == nil || len(a.held)+len(a.beside) > 0
}

func (c *candidate) conflictsWithAny(other *candidate, rules Rules) bool {
	return slices.ContainsFunc(c.paths, func(path RoutePath) bool { return c.conflictsWith(path, other, rules) })
}

// live is the candidate of a live route in hosts by name.
func live(o *unstructured.Unstructured) *candidate {
	named, _ := candidatesOf(o)
	return named
}
