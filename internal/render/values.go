package render

import (
	"context"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/values"
)

// Values returns what the templates see of a resource as .Values: the values of its spec, over the defaults of the chart.
func (r *Renderer) Values(ctx context.Context, resource *unstructured.Unstructured, capabilities *chartutil.Capabilities) (chartutil.Values, error) {
	vals, _, err := values.Read(ctx, r.Translator, resource)
	if err != nil {
		return nil, &InvalidSpecError{err}
	}
	_, input, err := r.input(run{resource, vals, capabilities})
	if err != nil {
		return nil, r.blame(err)
	}
	return input["Values"].(chartutil.Values), nil
}
