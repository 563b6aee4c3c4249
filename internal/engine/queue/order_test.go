package queue

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// One tenant has 500 requests that are queued again as soon as they are handed out; those of others come next all the same.
func TestATenantDoesNotWaitForAnother(t *testing.T) {
	for name, test := range map[string]struct {
		theirs, ours int // priorities
		tenants      int // that want the same as we do
		want         int // requests before ours
	}{
		"objects behind objects":                        {0, 0, 0, 1},
		"bookkeeping behind objects":                    {0, low, 0, 1},
		"objects behind bookkeeping":                    {low, 0, 0, 1},
		"bookkeeping behind bookkeeping":                {low, low, 0, 1},
		"objects behind objects of 20 tenants":          {0, 0, 20, 21},
		"bookkeeping of 20 tenants, and one of objects": {0, low, 20, 41},
		"objects of 20 tenants, and one of bookkeeping": {low, 0, 20, 41},
	} {
		t.Run(name, func(t *testing.T) {
			q := started(t)
			load := func(requests int, namespace string, priority int) {
				for i := range requests {
					add(q, priority, 0, request(namespace, i))
				}
			}
			load(500, "loud", test.theirs)
			for i := range test.tenants {
				load(10, fmt.Sprint("tenant-", i), test.ours)
			}
			before := func() int {
				add(q, test.ours, 0, request("quiet", 1))
				for pops := 0; ; pops++ {
					r, priority, _ := q.GetWithPriority()
					q.Done(r)
					if r.Namespace == "quiet" {
						return pops
					}
					if pops > 2000 {
						t.Fatal("2000 requests of others came first")
					}
					add(q, priority, 0, r)
				}
			}
			for range 100 {
				if got := before(); got > test.want {
					t.Fatalf("%d requests came before ours, want %d at most", got, test.want)
				}
			}
		})
	}
}

func TestTheOrder(t *testing.T) {
	type entry struct {
		priority int
		request  reconcile.Request
	}
	for name, test := range map[string]struct {
		entries []entry
		want    string
	}{
		"first come, first served": {
			[]entry{{0, request("a", 1)}, {0, request("a", 2)}, {0, request("a", 3)}},
			"a/1 a/2 a/3",
		},
		"what people wait for goes first": {
			[]entry{{low, request("a", 1)}, {0, request("a", 2)}, {0, request("a", 3)}},
			"a/2 a/3 a/1",
		},
		"namespaces take turns": {
			[]entry{{0, request("a", 1)}, {0, request("a", 2)}, {0, request("a", 3)}, {0, request("b", 1)}, {0, request("b", 2)}, {0, request("c", 1)}},
			"a/1 b/1 c/1 a/2 b/2 a/3",
		},
		"bookkeeping of some and objects of others take turns": {
			[]entry{{low, request("a", 1)}, {low, request("a", 2)}, {0, request("b", 1)}, {0, request("b", 2)}, {0, request("b", 3)}},
			"b/1 a/1 b/2 a/2 b/3",
		},
		"what becomes more than bookkeeping goes behind what people wait for": {
			[]entry{{low, request("a", 1)}, {low, request("a", 2)}, {0, request("a", 3)}, {0, request("a", 2)}},
			"a/3 a/2 a/1",
		},
		"a namespace changes the line with its only request": {
			[]entry{{low, request("a", 1)}, {low, request("b", 1)}, {0, request("c", 1)}, {0, request("b", 1)}},
			"c/1 a/1 b/1",
		},
		"what people wait for stays where it is when it is asked for again": {
			[]entry{{0, request("a", 1)}, {0, request("a", 2)}, {low, request("a", 1)}, {0, request("a", 1)}},
			"a/1 a/2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := started(t)
			for _, e := range test.entries {
				add(q, e.priority, 0, e.request)
			}
			wantOrder(t, q, strings.Fields(test.want)...)
		})
	}
}

func TestBookkeepingOfANamespaceIsNotPutOffForEver(t *testing.T) {
	q := started(t)
	for i := range 3 {
		add(q, low, 0, request("a", 1000+i))
	}
	for i := range 2*patience + 2 {
		add(q, 0, 0, request("a", i))
	}
	for i, r := range drain(t, q) {
		wanted := i == patience || i == 2*patience+1 || i == 2*patience+4
		if got := strings.HasPrefix(r, "a/100"); got != wanted {
			t.Errorf("number %d is %s, want bookkeeping: %t", i, r, wanted)
		}
	}
}

func TestANamespaceWithoutRequestsIsForgotten(t *testing.T) {
	q := started(t)
	for i := range 1000 {
		add(q, low*(i%2), 0, request(fmt.Sprint(i/3), i))
	}
	drain(t, q)
	o := q.order
	if got := len(o.namespaces) + len(o.expected) + len(o.handedOut) + o.lines[objects].Len() + o.lines[bookkeeping].Len(); got != 0 {
		t.Errorf("%d things are remembered of requests that were handed out", got)
	}
}
