package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/render"
)

// Chart is what the resources of a kind are rendered with: a chart, and an operator, whose hooks have a say, too.
type Chart struct {
	render.Identity
	// Operator is the version of the operator.
	Operator string
}

// shortest is how many characters of a digest are enough to name a chart.
const shortest = 8

// String names the chart to people.
func (c Chart) String() string {
	return fmt.Sprintf("chart %s %s (%s)", c.Name, c.Version, cluster.ShortDigest(c.Digest))
}

// id tells charts, and operators, apart.
func (c Chart) id() string {
	sum := sha256.Sum256([]byte(c.Digest + "\n" + c.Operator))
	return hex.EncodeToString(sum[:])[:16]
}

// Labels are those by which a release record says what rendered it.
func (c Chart) Labels() map[string]string {
	return map[string]string{v1.LabelChartDigest: c.Digest, v1.LabelRenderedBy: c.id()}
}

// Rendered reports whether the release of a record was rendered with the chart, by this operator.
func (c Chart) Rendered(record *cluster.Record) bool { return record.RenderedBy == c.id() }

// Mark is what the label v1.LabelRollout of a record says once the chart, and nobody else, begins to change a resource of a generation. It
// is written before the first object is: a crash cannot lose it. The next record has it, too.
func (c Chart) Mark(generation int64) string { return fmt.Sprintf("%s.%d", c.id(), generation) }

// Begun reports whether the chart has begun to change a resource of a generation, of which a record is the newest one.
func (c Chart) Begun(record *cluster.Record, generation int64) bool {
	return record != nil && record.Rollout == c.Mark(generation)
}

// named reports whether a digest, or the beginning of one, names the chart.
func (c Chart) named(digest string) bool {
	return len(digest) >= shortest && strings.HasPrefix(c.Digest, digest)
}
