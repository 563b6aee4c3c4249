package preview

import (
	"context"
	"fmt"
	"maps"

	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/status"
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

// Release is the newest recorded release of a resource.
type Release struct {
	Revision int
	// Digest identifies the written objects.
	Digest string
	// Content is the content that its pods took from referenced objects.
	Content reference.Content

	record *corev1.Secret
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

// Outcome returns the objects that were written for a resource.
func (r *Release) Outcome(resource *unstructured.Unstructured) Outcome {
	recorded, err := release.Decode(r.record)
	if err != nil {
		return Outcome{Err: fmt.Errorf("the release record %s cannot be read: %w", r.record.Name, err)}
	}
	return Outcome{Objects: recorded.Objects, RecordedRuns: recordedRuns(resource), Retained: retained(resource),
		Source: recorded.Source}
}

// recordedRuns returns the runs of Jobs that run once that the status of a resource records; nil if it cannot be read.
func recordedRuns(resource *unstructured.Unstructured) []v1.RunStatus {
	current, err := status.Of(resource)
	if err != nil {
		return nil
	}
	return current.Runs
}

// completedRuns returns runs as a status records them once they are complete.
func completedRuns(runs []jobs.Run) []v1.RunStatus {
	list := make([]v1.RunStatus, 0, len(runs))
	for _, run := range runs {
		list = append(list, v1.RunStatus{Job: run.Name(""), Digest: run.Digest, Result: v1.RunComplete})
	}
	return list
}
