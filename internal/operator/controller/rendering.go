package controller

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/hosts"
)

// inputs are the inputs of a rendering, except for the facts.
type inputs struct {
	generation int64
	restarted  string
	skipped    string
	surroundings
}

// surroundings are the inputs that do not belong to the resource.
type surroundings struct {
	chart, defaults string // digests
	capabilities    int64
}

// rendered is the result of rendering a resource, with its inputs.
type rendered struct {
	inputs     inputs
	facts      postrender.Facts
	references []reference.Reference
	// selectors of the workloads, before the hooks.
	selectors map[kube.Key]map[string]string
	// requested are the runs of the Jobs that run once, runs the same as noted if they do not run again, and jobs are
	// these Jobs.
	requested []jobs.Run
	runs      []jobs.Run
	jobs      []jobs.Desired
	// generated are the names of the Secrets that the operator fills.
	generated []string
	// content that pods take from the references.
	content reference.Content
	// defaults are the fields that the spec left to the defaults.
	defaults []v1.DefaultsStatus
	// outline and packed are the result, and routes its hosts and paths.
	outline render.Outline
	routes  hosts.Requested
	packed  *render.Packed
	// reloaded is when the content of references last changed.
	reloaded time.Time
}

// rendering is the desired state of a resource; the zero value if it cannot be rendered.
type rendering struct {
	*rendered
	// advice are missing objects without which pods start all the same.
	advice []reference.Reference
	// owed names a missing object that the stage `before` should have made; nil if none is missing.
	owed error
	// heldRoutes are those that are left as they are, because other resources serve their hosts and paths.
	heldRoutes []hosts.HeldRoute
	// reload is the time until changed content of references is rendered; 0 if it already is.
	reload time.Duration
}

// objects returns the rendered objects; nil if nothing can be rendered.
func (w rendering) objects() ([]*unstructured.Unstructured, error) {
	if w.rendered == nil {
		return nil, nil
	}
	result, err := w.packed.Unpack()
	if err != nil {
		return nil, err
	}
	return result.Objects, nil
}

// keys returns the keys of the rendered objects; nil if nothing can be rendered.
func (w rendering) keys() []kube.Key {
	if w.rendered == nil {
		return nil
	}
	return w.outline.Keys
}

// jobsIn returns the Jobs of some stages that run once.
func (w rendering) jobsIn(stages ...stage.Stage) []jobs.Desired {
	keys := w.outline.InStage(stages...)
	return slices.DeleteFunc(slices.Clone(w.jobs),
		func(job jobs.Desired) bool { return !slices.Contains(keys, jobKey(job.Run.Job)) })
}

func jobKey(name string) kube.Key {
	return kube.Key{GroupKind: schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}, Name: name}
}
