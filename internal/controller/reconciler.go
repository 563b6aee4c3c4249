// Package controller reconciles the resources of one kind: it reads the resource, renders it, looks at what is there,
// decides, acts, and writes one status. Everything else is owned by the packages that it calls, in that order.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/metrics"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watch"
)

// staleRetry is how soon a reconcile is tried again that the caches were too old for.
const staleRetry = 250 * time.Millisecond

// stalePatience is for how long it is tried again that soon before the status says what it waits for.
const stalePatience = 2 * time.Second

// noticePatience is how long the status may wait for the Deployment controller to take note of a release.
const noticePatience = time.Second

// previousRetry is how often the objects of an earlier resource of the same name are looked for.
const previousRetry = time.Second

// Reconciler reconciles the resources of one kind. It is safe for concurrent use on different resources.
type Reconciler struct {
	Kind         schema.GroupVersionKind
	Renderer     *render.Renderer
	Capabilities watch.CapabilitiesSource
	Observer     *cluster.Observer
	Actor        *release.Actor
	Tracker      KindTracker
	References   ReferenceSource
	Hosts        *hosts.Hosts
	Rollouts     *Rollouts
	Looks        flowcontrol.PassiveRateLimiter // bounds how often pods are looked at; nil for no bound
	Client       client.Client                  // reads come from informers
	Live         client.Reader                  // reads past them
	Recorder     record.EventRecorder
	Metrics      *metrics.Kind
	Clock        clock.PassiveClock
	// Period after which a resource is looked at again without cause; 0 for never.
	Period time.Duration

	memory memory
}

// KindTracker sees to it that a kind is watched and that its objects are in the caches.
type KindTracker interface {
	Ensure(ctx context.Context, kind schema.GroupVersionKind) error
}

// ReferenceSource tells what is there of what resources refer to.
type ReferenceSource interface {
	// Refer notes all that a resource refers to, its namespace included.
	Refer(name types.NamespacedName, references []dependency.Reference)
	// Forget drops a resource that is gone.
	Forget(name types.NamespacedName)
	// Facts tells what hooks may know of the cluster.
	Facts(ctx context.Context, resource client.Object, references []dependency.Reference) (postrender.Facts, error)
}

// pass is one reconcile on its way through the steps.
type pass struct {
	resource *unstructured.Unstructured
	previous *v1.AppServiceStatus // status of resource
	memory   *remembered
	basis    basis
	outline  *render.Outline
	desired  *render.Result         // nil where memory has let go of it and nobody needed it
	advice   []dependency.Reference // what is missing, though pods start without it
	snapshot *cluster.Snapshot
	held     []hosts.Held // routes that somebody else's stand in the way of
	plan     *release.Plan
	state    release.State
	causes   []diagnose.Cause // why the Deployment is not as desired
	paused   bool
	acted    bool          // something was to be written
	reported bool          // status says what came of it
	damped   time.Duration // until status may say so; 0 where it does
	err      error         // why the objects are not as rendered
}

// Reconcile brings one resource to what its spec says.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	p, began := &pass{}, r.Clock.Now()
	defer func() { r.measure(p, began, err) }()
	if err := r.read(ctx, request, p); err != nil || p.resource == nil {
		return reconcile.Result{}, err
	}
	if p.resource.GetDeletionTimestamp() != nil {
		r.Hosts.Forget(r.Kind.GroupKind(), request.NamespacedName)
		return r.letGo(ctx, p)
	}
	if wait := p.memory.failure.wait(r.Clock.Now(), p.resource.GetGeneration()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	p.paused = r.pausedBy(p.resource)
	if !p.paused {
		p.err = r.render(ctx, p)
	}
	if err := r.observe(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	if p.err == nil && !p.paused {
		p.held, p.err = r.Hosts.Settle(ctx, p.resource, p.memory.wanted, p.snapshot.Objects)
	} else {
		r.Hosts.Forget(r.Kind.GroupKind(), request.NamespacedName)
	}
	if p.err == nil && !p.paused {
		p.err = r.decide(ctx, p)
	}
	if p.err == nil && !p.paused {
		if !r.mayAct(p) {
			return reconcile.Result{RequeueAfter: rolloutRetry}, nil
		}
		p.err = r.timed(ctx, p)
	}
	if stale(p.err) && p.memory.failure.mayPass(r.Clock.Now()) {
		log.FromContext(ctx).V(1).Info("waited for the caches", "reason", p.err.Error())
		return reconcile.Result{RequeueAfter: staleRetry}, nil
	}
	if p.err == nil && p.releases() && p.unwritten() {
		p.memory.wrote = wrote{p.outline.Digest, p.plan.String()}
		return reconcile.Result{RequeueAfter: time.Millisecond, Priority: ptr.To(watch.Bookkeeping)}, nil
	}
	if p.err == nil {
		r.tellAction(ctx, p)
		r.measureAction(p)
		if p.unnoticed() {
			return reconcile.Result{RequeueAfter: noticePatience}, nil
		}
		if len(p.held) > 0 {
			p.err = p.held[0].Conflict
		}
	}
	r.diagnose(ctx, p)
	if err := r.report(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	p.reported = true
	return r.next(p), nil
}

// releases tells whether the action ends with a record.
func (p *pass) releases() bool {
	return p.state == release.Absent || p.state == release.OutOfDate || p.state == release.Unfinished
}

// unwritten tells whether the action has objects to write, once for each release: what people wait for goes first, the record
// comes when nobody's objects wait.
func (p *pass) unwritten() bool {
	return !p.plan.Empty() && (!p.releases() || p.memory.wrote.digest != p.outline.Digest)
}

// unnoticed tells whether a release was just written of which the Deployment controller has not taken note: its word comes
// within moments, and the status is written then rather than twice.
func (p *pass) unnoticed() bool {
	if p.state != release.Absent && p.state != release.OutOfDate {
		return false
	}
	for key, object := range p.snapshot.Objects {
		if key.Kind != "Deployment" {
			continue
		}
		if deployment := kube.As[appsv1.Deployment](object); deployment != nil && deployment.Status.ObservedGeneration < deployment.Generation {
			return true
		}
	}
	return false
}

// read gets the resource. It leaves nothing to do where the resource is gone: the garbage collector deletes what it
// controlled.
func (r *Reconciler) read(ctx context.Context, request reconcile.Request, p *pass) error {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(r.Kind)
	err := r.Client.Get(ctx, request.NamespacedName, resource)
	switch {
	case apierrors.IsNotFound(err):
		r.References.Forget(request.NamespacedName)
		r.Hosts.Forget(r.Kind.GroupKind(), request.NamespacedName)
		for _, uid := range r.memory.forget(request.NamespacedName) {
			r.Observer.Forget(uid)
			r.Rollouts.end(uid)
		}
		return nil
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", r.Kind.Kind, err)
	}
	var earlier types.UID
	if p.memory, earlier = r.memory.of(resource); earlier != "" {
		r.Observer.Forget(earlier)
	}
	p.resource = r.memory.newest(p.memory, resource)
	p.previous, err = statusOf(p.resource)
	return err
}

// pausedBy tells whether a resource asks to be left as it is. Of other kinds than AppService, spec belongs to the chart.
func (r *Reconciler) pausedBy(resource *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(resource.Object, "spec", "paused")
	return paused && r.Kind == v1.GroupVersion.WithKind(v1.Kind)
}

func (r *Reconciler) observe(ctx context.Context, p *pass) (err error) {
	p.snapshot, err = r.Observer.Snapshot(ctx, p.resource)
	return err
}

// next tells when to look again: soon after a failure, when the journal lapses where the informers do not show all that was
// written, when pods are to be looked at or the status may be written that was held back, after the period of the kind otherwise.
func (r *Reconciler) next(p *pass) reconcile.Result {
	if p.err == nil {
		p.memory.failure = failure{}
		p.memory.settled, p.memory.capabilities = !p.paused, p.basis.capabilities
		after := r.Period
		if p.snapshot.Unconfirmed {
			after = sooner(after, cluster.Lapse)
		}
		if d := p.memory.diagnosis; d != nil {
			after = sooner(after, d.wait(r.Clock.Now()))
		}
		return reconcile.Result{RequeueAfter: sooner(after, p.damped)}
	}
	var previous *release.PreviousError
	if errors.As(p.err, &previous) {
		return reconcile.Result{RequeueAfter: previousRetry}
	}
	return reconcile.Result{RequeueAfter: p.memory.failure.again(r.Clock.Now(), p.resource.GetGeneration(), awaited(p.err))}
}

// sooner gives the shorter of two times to wait, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// awaited tells whether a change of something that is watched ends the error, and trying costs nothing.
func awaited(err error) bool {
	var missing *dependency.MissingError
	var conflict *hosts.ConflictError
	var insecure *postrender.PodSecurityError
	return errors.As(err, &missing) || errors.As(err, &conflict) || errors.As(err, &insecure)
}
