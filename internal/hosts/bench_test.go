package hosts

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// BenchmarkSettle settles one of many resources that all serve a host, or wait for one.
func BenchmarkSettle(b *testing.B) {
	for _, count := range []int{10, 1000, 10_000} {
		w := newWorld(b)
		for i := range count {
			w.app(fmt.Sprint("tenant-", i), "web", i, fmt.Sprintf("app-%d.example.com", i))
			w.restEach()
		}
		waiting := w.app("late", "web", 0, "app-5.example.com")
		w.restEach()
		serving := w.actors[named("tenant-7", "web")]
		none := claimant("tenant-1", "none", 0)
		for name, a := range map[string]*actor{"serves": serving, "waits": waiting} {
			wanted := WantedBy(a.spec)
			objects := map[kube.Key]client.Object{}
			if live := w.objects[w.at(a)]; live != nil {
				objects[kube.KeyOf(live)] = live
			}
			b.Run(fmt.Sprintf("%s, one of %d", name, count), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.hosts.settle(a.resource, wanted, objects)
				}
			})
		}
		b.Run(fmt.Sprintf("no routes, beside %d", count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.hosts.settle(none, nil, nil)
			}
		})
		b.Run(fmt.Sprintf("an event of one of %d", count), func(b *testing.B) {
			b.ReportAllocs()
			live := w.objects[w.at(serving)]
			for b.Loop() {
				w.hosts.see(live, true)
				w.hosts.see(live, false)
			}
		})
	}
}

// restEach reconciles what is in the queue, without a look at all resources.
func (w *world) restEach() {
	for w.queue.Len() > 0 || len(w.events) > 0 {
		if len(w.events) > 0 {
			w.show()
			continue
		}
		request, _ := w.queue.Get()
		a := w.actors[request.NamespacedName]
		a.journal, a.snapshot = map[place]change{}, map[kube.Key]client.Object{}
		if live := w.shown[w.at(a)]; live != nil {
			a.snapshot[kube.KeyOf(live)] = live
		}
		w.settle(a)
		for _, write := range a.writes {
			write()
		}
		a.snapshot, a.writes = nil, nil
		w.queue.Done(request)
	}
}
