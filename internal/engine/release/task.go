package release

import (
	"crypto/rand"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// Actor carries out the actions for the resources of one kind. It is safe for concurrent use on different resources.
type Actor struct {
	writer *livestate.Writer
	live   client.Reader
	keep   int
	maker  generate.Maker
}

// NewActor returns an actor. Live reads past the caches; keep is the number of release records kept of each resource,
// the newest included.
func NewActor(writer *livestate.Writer, live client.Reader, keep int) *Actor {
	return &Actor{writer: writer, live: live, keep: keep, maker: generate.Maker{Random: rand.Reader}}
}

// Task is one resource, its desired objects, and the input of plan.Decide about it.
type Task struct {
	Owner *unstructured.Unstructured
	// Chart rendered the desired objects. Both are nil for a repair of the recorded release.
	Chart    *chart.Chart
	Desired  *render.Result
	Snapshot *livestate.Snapshot
	Plan     *plan.Plan
	State    plan.State
	// Labels of the record, in addition to those that it always has.
	Labels map[string]string
	// Source is the source of the release; nil for its owner as it is.
	Source *Source
	// Runs are the noted runs of Jobs that run once; nil if none is rendered.
	Runs []v1.RunStatus
	// Again says that an earlier attempt failed: obstacles are looked for before anything is written.
	Again bool
	// Part says that it is the stage `before` of a release, which is not recorded; Kept that it is not the rendered
	// release, but the recorded one or an earlier one.
	Part, Kept bool
	// First says that nothing of the resource was ever released: if it is refused, all that it created is deleted.
	First bool
}

// applier returns the applier for a resource. The objects of desired, which may be nil, are encoded already.
func (a *Actor) applier(session *livestate.Session, owner *unstructured.Unstructured, desired *render.Result) *applier {
	bodies := func(object *unstructured.Unstructured) (render.Body, error) {
		if desired != nil {
			if at := slices.Index(desired.Objects, object); at >= 0 {
				return desired.Bodies[at], nil
			}
		}
		return render.BodyOf(object)
	}
	return &applier{session: session, live: a.live, owner: owner, bodies: bodies, maker: a.maker}
}

func (a *Actor) records(session *livestate.Session, owner *unstructured.Unstructured) *records {
	return &records{session: session, live: a.live, owner: owner}
}

// applier carries out plans for one resource with server-side apply: one request per object, exact removal of fields
// that are no longer rendered no matter how many writes were lost before, and a refusal by the API server if the object
// is not the one, in the version, that was compared.
type applier struct {
	session *livestate.Session
	live    client.Reader
	owner   *unstructured.Unstructured
	// bodies returns the JSON of rendered objects.
	bodies func(*unstructured.Unstructured) (render.Body, error)
	// maker makes the values of Secrets, whose first version is firstVersion.
	maker        generate.Maker
	firstVersion string
}

// identity returns an object with only the fields that identify it.
func identity(object client.Object) *unstructured.Unstructured {
	out := kube.Object(object.GetObjectKind().GroupVersionKind())
	out.SetNamespace(object.GetNamespace())
	out.SetName(object.GetName())
	return out
}
