package preview

import (
	"context"
	"maps"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// Subject is a resource to render, with the known facts about its namespace and cluster.
type Subject struct {
	// Name is its name for users.
	Name     string
	Resource *unstructured.Unstructured
	Facts    postrender.Facts
	// Defaults are the defaults of the namespace.
	Defaults defaults.Text
}

// Outcome is the result of rendering a resource: its objects or an error. The zero value stands for a kind that is not
// served.
type Outcome struct {
	Objects []*unstructured.Unstructured
	// Digest identifies the objects, like the label of a release record; empty if it is not known.
	Digest string
	// Unknown are the fields of the spec without an effect.
	Unknown []string
	// Runs are those of the Jobs that run once, and RecordedRuns those that the status in the cluster records; in an
	// assumed cluster, these Jobs have run.
	Runs         []jobs.Run
	RecordedRuns []v1.RunStatus
	// Retained are the objects in the cluster that are kept for their data although no release has them, as in
	// "Secret web".
	Retained []string
	// Source has the spec that was rendered; nil if it is not known.
	Source *release.Source
	Err    error
}

// sourceOf returns the source of a resource that is rendered as it is.
func sourceOf(resource *unstructured.Unstructured) *release.Source {
	return &release.Source{Spec: resource.Object["spec"]}
}

// Render renders a subject, hooks included. The renderer is nil if the kind is not served.
func (s Subject) Render(ctx context.Context, renderer *render.Renderer, capabilities *chartutil.Capabilities) Outcome {
	if renderer == nil {
		return Outcome{}
	}
	in := render.Input{Resource: s.Resource, Defaults: s.Defaults, Capabilities: capabilities}
	known := func(context.Context, *render.Draft) (postrender.Facts, error) { return s.Facts, nil }
	out := OutcomeOf(renderer.Predict(ctx, in, known))
	out.RecordedRuns, out.Retained, out.Source = recordedRuns(s.Resource), retained(s.Resource), sourceOf(s.Resource)
	return out
}

// SameSelectors reports whether the selectors of an earlier rendering are in this one.
func (o Outcome) SameSelectors(selectors map[kube.Key]map[string]string) bool {
	for key, labels := range postrender.SelectorsOf(o.Objects) {
		if kept := selectors[key]; kept != nil && !maps.Equal(kept, labels) {
			return false
		}
	}
	return true
}

// Outcome renders a resource with one version of the charts. It is empty if the resource is nil or its kind is not
// served.
func (c *Cluster) Outcome(
	ctx context.Context, charts *Charts, resource *unstructured.Unstructured, last *Release,
) Outcome {
	if resource == nil || charts == nil || charts.Renderers[resource.GroupVersionKind()] == nil {
		return Outcome{}
	}
	out := OutcomeOf(c.Render(ctx, charts.Renderers[resource.GroupVersionKind()], resource, last))
	out.RecordedRuns, out.Source = recordedRuns(resource), sourceOf(resource)
	if c.Assumed() {
		out.RecordedRuns = completedRuns(out.Runs)
	}
	return out
}

// OutcomeOf returns the outcome of a rendering. A required kind that the cluster does not serve is an error, as for the
// operator.
func OutcomeOf(result *render.Result, err error) Outcome {
	if err == nil {
		err = result.Served()
	}
	if err != nil {
		return Outcome{Err: err}
	}
	return Outcome{Objects: result.Objects, Digest: result.Digest, Unknown: result.Unknown, Runs: result.Runs}
}
