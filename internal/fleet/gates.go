package fleet

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Gates are the gates that control a resource of a kind: that of the chart, and that of the defaults of its namespace. It is safe
// for concurrent use.
type Gates struct {
	// Chart is the gate of the kind.
	Chart *Gate
	// Of returns a new gate for a namespace; nil if namespaces have no defaults.
	Of func(namespace string) *Gate

	mu         sync.Mutex
	namespaces map[string]*Gate
	queue      rolloutQueue
}

// Note records how a resource fares with the parts of Asked.
func (g *Gates) Note(asked Asked, name types.NamespacedName, chart, defaults Standing) {
	g.Chart.Note(asked.Chart, name, chart)
	if gate := g.of(name.Namespace); gate != nil {
		gate.Note(asked.Defaults, name, defaults)
	}
}

// Pass records that a resource need not be waited for.
func (g *Gates) Pass(asked Asked, name types.NamespacedName) {
	g.Chart.Pass(asked.Chart, name)
	if gate := g.of(name.Namespace); gate != nil {
		gate.Pass(asked.Defaults, name)
	}
}

// Forget drops a resource that no longer exists, and with the last one of a namespace its gate.
func (g *Gates) Forget(name types.NamespacedName) {
	g.Chart.Forget(name)
	gate := g.of(name.Namespace)
	if gate == nil {
		return
	}
	gate.Forget(name)
	if left, err := gate.Names(); err == nil && len(left) == 0 {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.namespaces, name.Namespace)
	}
}

// Hold returns why the parts may not change a resource that nothing else requires to change.
func (g *Gates) Hold(asked Asked, parts Parts, name types.NamespacedName) Hold {
	if parts.Chart {
		if hold := g.Chart.Hold(asked.Chart); hold.Closed() {
			return hold
		}
	}
	if gate := g.of(name.Namespace); gate != nil && parts.Defaults {
		return gate.Hold(asked.Defaults)
	}
	return Hold{}
}

// Wake returns the source of requests for resources that are held back, when that changes.
func (g *Gates) Wake() source.Source {
	return source.Func(func(_ context.Context, queue rolloutQueue) error {
		g.mu.Lock()
		g.queue = queue
		for _, gate := range g.namespaces {
			gate.wakes(queue)
		}
		g.mu.Unlock()
		g.Chart.wakes(queue)
		return nil
	})
}

// of returns the gate of a namespace; nil if namespaces have no defaults.
func (g *Gates) of(namespace string) *Gate {
	if g.Of == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	gate := g.namespaces[namespace]
	if gate == nil {
		if g.namespaces == nil {
			g.namespaces = map[string]*Gate{}
		}
		gate = g.Of(namespace)
		gate.wakes(g.queue)
		g.namespaces[namespace] = gate
	}
	return gate
}
