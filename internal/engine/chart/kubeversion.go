package chart

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// Supports returns an error if a version of Kubernetes is not within the kubeVersion of a chart. As for Helm, that of a
// subchart has no meaning.
func Supports(c *chart.Chart, version string) error {
	wants := c.Metadata.KubeVersion
	if wants == "" || version == "" || chartutil.IsCompatibleRange(wants, version) {
		return nil
	}
	return fmt.Errorf("Chart.yaml: kubeVersion %q does not include the cluster's version %s: correct it, or upgrade the cluster", //nolint:staticcheck // the name of a file
		wants, version)
}
