package render

import (
	"fmt"
	"sync/atomic"

	appchart "github.com/example/appservice-operator/internal/chart"
)

// Current holds the renderer that is in use. Another chart is another Renderer: whoever reads it once per reconcile uses one version of
// the chart all the way. It is safe for concurrent use.
type Current struct{ renderer atomic.Pointer[Renderer] }

// NewCurrent returns a holder of a renderer.
func NewCurrent(renderer *Renderer) *Current {
	c := &Current{}
	c.Set(renderer)
	return c
}

// Get returns the renderer in use.
func (c *Current) Get() *Renderer { return c.renderer.Load() }

// Set puts another renderer to use.
func (c *Current) Set(renderer *Renderer) { c.renderer.Store(renderer) }

// Identity says which chart it is. Two charts with the same digest have the same files.
type Identity struct {
	Name, Version, Digest string
	// Values is the digest of what watches.yaml puts beneath and over specs; empty if that is nothing.
	Values string
}

func (i Identity) String() string { return fmt.Sprintf("%s %s (%s)", i.Name, i.Version, i.Digest) }

// Identity returns that of the renderer's chart.
func (r *Renderer) Identity() Identity {
	r.identity.once.Do(func() { r.identity.digest, r.identity.values = appchart.Digest(r.Chart), r.Platform.digest() })
	return Identity{Name: r.Chart.Name(), Version: r.Chart.Metadata.Version, Digest: r.identity.digest, Values: r.identity.values}
}
