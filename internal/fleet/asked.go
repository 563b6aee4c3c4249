package fleet

import (
	"cmp"
	"fmt"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/defaults"
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
	return fmt.Sprintf("%s (%s)", defaults.ByNamespace, cluster.ShortDigest(d.Digest))
}

// id begins with a letter that no identity of a chart begins with.
func (d Defaults) id() string {
	if d.Digest == "" {
		return none
	}
	return "n" + d.Digest[:min(len(d.Digest), 15)]
}

// named implements Version: defaults cannot be requested to go on. Their author can change them, or revert the change.
func (Defaults) named(string) bool { return false }

func (d Defaults) log() []any { return []any{"digest", d.Digest} }

// Asked identifies everything that a resource is rendered with besides its spec.
type Asked struct {
	Chart    Chart
	Defaults Defaults
}

// Parts are parts of Asked.
type Parts struct{ Chart, Defaults bool }

// Any reports whether there are any.
func (p Parts) Any() bool { return p != Parts{} }

// String names parts of Asked for people.
func (a Asked) String(parts Parts) string {
	switch {
	case parts.Chart && parts.Defaults:
		return fmt.Sprintf("%s with %s", a.Chart, a.Defaults)
	case parts.Defaults:
		return a.Defaults.String()
	}
	return a.Chart.String()
}

// Labels returns the labels by which a release record identifies what rendered it.
func (a Asked) Labels() map[string]string {
	labels := map[string]string{v1.LabelChartDigest: a.Chart.Digest, v1.LabelRenderedBy: a.Chart.id()}
	if a.Defaults.Digest != "" {
		labels[v1.LabelDefaults] = a.Defaults.id()
	}
	return labels
}

// New returns the parts that the release of a record was not rendered with.
func (a Asked) New(record *cluster.Record) Parts {
	return Parts{Chart: record.RenderedBy != a.Chart.id(), Defaults: cmp.Or(record.Defaults, none) != a.Defaults.id()}
}

// Mark returns the value of the label v1.LabelRollout of a record once new parts, and nothing else, begin to change a resource of a
// generation. It is written before the first object is: a crash cannot lose it. The next record has it, too. It names all of Asked, beginning
// with the part that is responsible for the outcome: defaults if they are new, so that no namespace can cause a chart to be halted.
func (a Asked) Mark(parts Parts, generation int64) string {
	ids := []string{a.Chart.id()}
	if parts.Defaults {
		ids = []string{a.Defaults.id(), a.Chart.id()}
	} else if a.Defaults.Digest != "" {
		ids = append(ids, a.Defaults.id())
	}
	return fmt.Sprintf("%s.%d", strings.Join(ids, "-"), generation)
}

// Begun reports whether Asked has begun to change a resource of a generation, according to its newest record.
func (a Asked) Begun(record *cluster.Record, generation int64) bool {
	return record != nil && (record.Rollout == a.Mark(Parts{Chart: true}, generation) || record.Rollout == a.Mark(Parts{Defaults: true}, generation))
}

// Answers returns the part that is responsible for the outcome for a resource of a generation; none if its user asked for the change, or
// if what did is no longer in use.
func (a Asked) Answers(record *cluster.Record, generation int64) Parts {
	if record == nil {
		return Parts{}
	}
	ids, at, _ := strings.Cut(record.Rollout, ".")
	first, _, _ := strings.Cut(ids, "-")
	if at != fmt.Sprint(generation) {
		return Parts{}
	}
	return Parts{Chart: first == a.Chart.id(), Defaults: first == a.Defaults.id()}
}
