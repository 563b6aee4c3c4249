package operator

import (
	"fmt"
	"slices"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// Served returns a line for each kind that the options have the operator serve, with the version and the digest of its
// chart, as they are in the status of resources.
func (o Options) Served() ([]string, error) {
	charts, err := o.charts()
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, entry := range charts.list {
		if entry.Chart == nil || charts.broken[entry.GroupVersionKind] != nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: chart %s-%s, digest %s", entry.Kind, entry.Chart.Name(), entry.Chart.Metadata.Version,
			livestate.ShortDigest(chart.Digest(entry.Chart))))
	}
	slices.Sort(lines)
	return lines, nil
}
