package hosts

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// BenchmarkSettle releases and takes the hosts of one of many resources, each with hosts of its own, beside refused wildcards.
func BenchmarkSettle(b *testing.B) {
	for _, count := range []int{1600, 16_000} {
		w := newWorld(b)
		w.rule(rulesOf{refused: []string{"*.example.com"}})
		for i := range count / 32 {
			w.app(fmt.Sprint("tenant-", i), "web", i, hostsUnder(fmt.Sprintf("app-%d.example.com", i), 32)...)
			w.app(fmt.Sprint("greedy-", i), "web", i, "*.example.com")
			w.restEach()
		}
		a := w.actors[named("tenant-7", "web")]
		wildcard := w.actors[named("greedy-7", "web")]
		for name, one := range map[string]*actor{"32 hosts": a, "a refused wildcard": wildcard} {
			requested := RequestedBy(one.spec)
			b.Run(fmt.Sprintf("%s, beside %d", name, count), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.hosts.settle(one.resource, nil, nil)
					w.hosts.settle(one.resource, requested, nil)
				}
			})
		}
		b.Run(fmt.Sprintf("an event of a route of 32 hosts, beside %d", count), func(b *testing.B) {
			b.ReportAllocs()
			live := w.objects[w.at(a)]
			for b.Loop() {
				w.see(live, true)
				w.see(live, false)
			}
		})
	}
}

func hostsUnder(domain string, count int) []string {
	var list []string
	for i := range count {
		list = append(list, fmt.Sprintf("h%d.%s", i, domain))
	}
	return list
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
		a.journal, a.snapshot = map[routeKey]change{}, map[kube.Key]client.Object{}
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
