package rollout

import (
	"fmt"

	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/render"
)

// Chart identifies what the resources of a kind are rendered with: a chart, and an operator, whose hooks affect the
// result, too.
type Chart struct {
	render.Identity
	// Operator is the version of the operator.
	Operator string
}

// String names the chart for people, with the settings of watches.yaml if there are any.
func (c Chart) String() string {
	return fmt.Sprintf("chart %s %s (%s)", c.Name, c.Version, c.Short())
}

// Short names the chart in a request to continue with it. The same files with other values in watches.yaml are another
// chart.
func (c Chart) Short() string {
	if c.Values == "" {
		return livestate.ShortDigest(c.Digest)
	}
	return livestate.ShortDigest(c.Digest) + "+" + livestate.ShortDigest(c.Values)
}

// id identifies a chart and the operator that serves it.
func (c Chart) id() string {
	text := c.Digest + "\n" + c.Operator
	if c.Values != "" {
		text += "\n" + c.Values
	}
	return digest.Of([]byte(text))[:16]
}
