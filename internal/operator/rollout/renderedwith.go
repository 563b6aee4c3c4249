package rollout

import (
	"cmp"
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// Defaults identifies one version of the defaults of a namespace.
type Defaults struct {
	// Digest of their content; empty if there are none.
	Digest string
}

// none is the identity of absent defaults.
const none = "n0"

// String returns the name of the defaults for people.
func (d Defaults) String() string {
	if d.Digest == "" {
		return "the removal of " + defaults.ByNamespace
	}
	return fmt.Sprintf("%s (%s)", defaults.ByNamespace, livestate.ShortDigest(d.Digest))
}

// id begins with a letter that no identity of a chart begins with.
func (d Defaults) id() string {
	if d.Digest == "" {
		return none
	}
	return "n" + d.Digest[:min(len(d.Digest), 15)]
}

// Basis identifies everything that a resource is rendered with besides its spec.
type Basis struct {
	Chart    Chart
	Defaults Defaults
}

// Parts are parts of a Basis.
type Parts struct{ Chart, Defaults bool }

// Any reports whether there are any.
func (p Parts) Any() bool { return p != Parts{} }

// String names parts of the basis for people.
func (a Basis) String(parts Parts) string {
	switch {
	case parts.Chart && parts.Defaults:
		return fmt.Sprintf("%s with %s", a.Chart, a.Defaults)
	case parts.Defaults:
		return a.Defaults.String()
	}
	return a.Chart.String()
}

// Labels returns the labels by which a release record identifies its basis.
func (a Basis) Labels() map[string]string {
	labels := map[string]string{v1.LabelChartDigest: a.Chart.Digest, v1.LabelRenderedBy: a.Chart.id()}
	if a.Defaults.Digest != "" {
		labels[v1.LabelDefaults] = a.Defaults.id()
	}
	return labels
}

// New returns the parts that the release of a record was not rendered with.
func (a Basis) New(record *livestate.Record) Parts {
	return Parts{Chart: record.RenderedBy != a.Chart.id(), Defaults: cmp.Or(record.Defaults, none) != a.Defaults.id()}
}

// ID identifies all of the basis in a label.
func (a Basis) ID() string {
	return digest.Of([]byte(a.Chart.id() + a.Defaults.id()))[:16]
}
