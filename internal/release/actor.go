package release

import (
	"context"
	"fmt"
	"strings"
	"sync"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/observe"
	"github.com/example/appservice-operator/internal/render"
)

// maxHistory is how many revisions of a release are kept.
const maxHistory = 5

// Actor carries out the actions for the resources of one kind. It is safe for concurrent use on different resources.
type Actor struct {
	chart   *chart.Chart
	actions helmclient.ActionClientGetter
	applier *applier
	client  client.Client
}

// Options are what an Actor needs.
type Options struct {
	Config   *rest.Config
	Mapper   meta.RESTMapper
	Client   client.Client // writes
	Live     client.Reader // reads past the caches
	Observer *observe.Observer
	Chart    *chart.Chart
}

// nameFieldManager tells Helm our name. Helm keeps it in a variable that all share, and actors may be made side by side.
var nameFieldManager = sync.OnceFunc(func() { kube.ManagedFieldsManager = FieldManager })

// NewActor makes an actor.
func NewActor(options Options) (*Actor, error) {
	nameFieldManager()
	actions, err := newActionClients(options.Config, options.Mapper, options.Observer)
	if err != nil {
		return nil, err
	}
	return &Actor{
		chart:   skeleton(options.Chart),
		actions: actions,
		applier: &applier{client: options.Client, live: options.Live, observer: options.Observer},
		client:  options.Client,
	}, nil
}

// Task is one resource and what Decide was told about it.
type Task struct {
	Owner    *unstructured.Unstructured
	Desired  *render.Result
	Snapshot *observe.Snapshot
	Plan     *Plan
	State    State
}

// Act carries out the action of the task's state. In sync nothing is called. The error is a NotOursError, a StaleError or
// the API server's.
func (a *Actor) Act(ctx context.Context, task Task) error {
	if task.State == InSync {
		return nil
	}
	plan, err := a.applier.check(ctx, task.Owner, task.Plan)
	if err != nil {
		return err
	}
	task.Plan = plan
	switch task.State {
	case Absent:
		return a.install(ctx, task)
	case OutOfDate:
		return a.upgrade(ctx, task)
	case Unfinished:
		return a.resume(ctx, task)
	case Drifted:
		return a.repair(ctx, task)
	}
	return fmt.Errorf("no action for state %q", task.State)
}

// Delete carries out the deletions of a plan for a resource that is going itself. No record is kept.
func (a *Actor) Delete(ctx context.Context, owner client.Object, plan *Plan) error {
	return a.applier.execute(ctx, owner, &Plan{Delete: plan.Delete})
}

// write is what Helm calls in place of its own writing.
func (a *Actor) write(ctx context.Context, task Task) func() error {
	return func() error { return a.applier.execute(ctx, task.Owner, task.Plan) }
}

// labels are what the record of a release is found and recognised by.
func (a *Actor) labels(task Task) map[string]string {
	return map[string]string{
		v1.LabelManaged:      "true",
		v1.LabelDigest:       task.Desired.Digest,
		v1.LabelChartVersion: labelValue(a.chart.Metadata.Version),
	}
}

// labelValue makes a chart version fit for a label: build metadata comes after a plus, and a label has 63 characters.
func labelValue(version string) string {
	value := strings.ReplaceAll(version, "+", "_")
	return strings.TrimRight(value[:min(len(value), 63)], "-_.")
}
