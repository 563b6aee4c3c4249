package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

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

// String names the chart to people, and what watches.yaml says besides, if it does.
func (c Chart) String() string {
	return fmt.Sprintf("chart %s %s (%s)", c.Name, c.Version, c.Short())
}

// Short is what names the chart in a request to go on with it. With the same files and other values of watches.yaml it is another one.
func (c Chart) Short() string {
	if c.Values == "" {
		return cluster.ShortDigest(c.Digest)
	}
	return cluster.ShortDigest(c.Digest) + "+" + cluster.ShortDigest(c.Values)
}

// id identifies a chart, and the operator that serves it.
func (c Chart) id() string {
	text := c.Digest + "\n" + c.Operator
	if c.Values != "" {
		text += "\n" + c.Values
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:16]
}

// named reports whether what a request says names the chart: its digest, or the beginning of one, and the same of its values.
func (c Chart) named(request string) bool {
	digest, values, _ := strings.Cut(request, "+")
	return begins(c.Digest, digest) && (values == "" && c.Values == "" || begins(c.Values, values))
}

// begins reports whether a digest begins with a text that is long enough to name it.
func begins(digest, text string) bool {
	return len(text) >= shortest && strings.HasPrefix(digest, text)
}

func (c Chart) log() []any {
	return []any{"chart", c.Name, "version", c.Version, "digest", c.Digest, "values", c.Values}
}
