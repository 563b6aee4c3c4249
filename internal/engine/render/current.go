package render

import (
	"fmt"
	"sync/atomic"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// Current holds the renderer in use. Another chart is another Renderer: a reconcile that reads it once uses one version
// of the chart throughout. It is safe for concurrent use.
type Current struct{ renderer atomic.Pointer[Renderer] }

// NewCurrent returns a holder of a renderer.
func NewCurrent(renderer *Renderer) *Current {
	c := &Current{}
	c.Set(renderer)
	return c
}

// Get returns the renderer in use.
func (c *Current) Get() *Renderer { return c.renderer.Load() }

// Set replaces the renderer in use.
func (c *Current) Set(renderer *Renderer) { c.renderer.Store(renderer) }

// Identity identifies a chart. Two charts with the same digest have the same files.
type Identity struct {
	Name, Version, Digest string
	// Values is the digest of the defaults and overrides in watches.yaml; empty if there are none.
	Values string
}

func (i Identity) String() string { return fmt.Sprintf("%s %s (%s)", i.Name, i.Version, i.Digest) }

// Identity returns the identity of the renderer's chart.
func (r *Renderer) Identity() Identity {
	r.identity.once.Do(func() { r.identity.digest, r.identity.values = appchart.Digest(r.Chart), r.Platform.digest() })
	return Identity{Name: r.Chart.Name(), Version: r.Chart.Metadata.Version, Digest: r.identity.digest,
		Values: r.identity.values}
}
