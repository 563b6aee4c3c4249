package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/bench/objects"
)

// reconciler creates or updates three objects. Reads come from informers; what is as it should be costs no request.
type reconciler struct {
	client.Client
}

func (r *reconciler) setup(mgr ctrl.Manager, workers int) error {
	spec := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	// Objects that it creates itself need no reconcile; those that change or disappear do.
	touched := builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion()
		},
	})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1.AppService{}, builder.WithPredicates(spec)).
		Owns(&appsv1.Deployment{}, touched).
		Owns(&corev1.Service{}, touched).
		Owns(&networkingv1.Ingress{}, touched).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// Reconcile writes what differs, then one status.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	app := &v1.AppService{}
	if err := r.Get(ctx, request.NamespacedName, app); err != nil || app.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	live, err := r.write(ctx, app)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return ctrl.Result{Requeue: true}, nil //nolint:staticcheck // the cache is behind: soon, and without a log line
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, app, live)
}

func (r *reconciler) write(ctx context.Context, app *v1.AppService) (*appsv1.Deployment, error) {
	wantService, liveService := objects.Service(app), &corev1.Service{}
	err := r.createOrUpdate(ctx, wantService, liveService, func() bool {
		same := equality.Semantic.DeepDerivative(wantService.Spec, liveService.Spec)
		liveService.Spec.Type, liveService.Spec.Selector = wantService.Spec.Type, wantService.Spec.Selector
		liveService.Spec.Ports = wantService.Spec.Ports
		return same
	})
	if err != nil {
		return nil, err
	}
	wantDeployment, liveDeployment := objects.Deployment(app), &appsv1.Deployment{}
	probe := wantDeployment.Spec.Template.Spec.Containers[0].ReadinessProbe
	probe.TimeoutSeconds, probe.SuccessThreshold = 1, 1 // as the API server fills them in: to DeepDerivative, no number is unset
	err = r.createOrUpdate(ctx, wantDeployment, liveDeployment, func() bool {
		same := equality.Semantic.DeepDerivative(wantDeployment.Spec, liveDeployment.Spec)
		liveDeployment.Spec = wantDeployment.Spec
		return same
	})
	if err != nil {
		return nil, err
	}
	if app.Spec.Ingress == nil {
		return liveDeployment, r.remove(ctx, app)
	}
	wantIngress, liveIngress := objects.Ingress(app), &networkingv1.Ingress{}
	return liveDeployment, r.createOrUpdate(ctx, wantIngress, liveIngress, func() bool {
		same := equality.Semantic.DeepDerivative(wantIngress.Spec, liveIngress.Spec)
		liveIngress.Spec = wantIngress.Spec
		return same
	})
}

// createOrUpdate brings an object to what is wanted. Reading fills live; mutate changes its spec to what is wanted, and
// reports whether it was so before.
func (r *reconciler) createOrUpdate(ctx context.Context, want, live client.Object, mutate func() (same bool)) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(want), live)
	if apierrors.IsNotFound(err) {
		return r.Create(ctx, want)
	}
	if err != nil {
		return err
	}
	same := mutate() &&
		equality.Semantic.DeepDerivative(want.GetLabels(), live.GetLabels()) &&
		equality.Semantic.DeepDerivative(want.GetAnnotations(), live.GetAnnotations()) &&
		metav1.GetControllerOf(live) != nil
	if same {
		return nil
	}
	live.SetLabels(merged(live.GetLabels(), want.GetLabels()))
	live.SetAnnotations(merged(live.GetAnnotations(), want.GetAnnotations()))
	live.SetOwnerReferences(want.GetOwnerReferences())
	return r.Update(ctx, live)
}

func (r *reconciler) remove(ctx context.Context, app *v1.AppService) error {
	live := &networkingv1.Ingress{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(app), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.DeletionTimestamp != nil || !metav1.IsControlledBy(live, app) {
		return nil
	}
	return client.IgnoreNotFound(r.Delete(ctx, live))
}

// report patches the status once the Deployment's controller has seen the change: its event calls again.
func (r *reconciler) report(ctx context.Context, app *v1.AppService, live *appsv1.Deployment) error {
	if live.Generation == 0 || live.Status.ObservedGeneration < live.Generation {
		return nil
	}
	before := app.DeepCopy()
	status := &app.Status
	status.ObservedGeneration, status.Image = app.Generation, app.Spec.Image
	status.Replicas, status.ReadyReplicas = live.Status.Replicas, live.Status.ReadyReplicas
	ready := metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: "RollingOut",
		ObservedGeneration: app.Generation,
	}
	if live.Status.UpdatedReplicas == *live.Spec.Replicas && live.Status.AvailableReplicas == *live.Spec.Replicas {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Running"
	}
	apimeta.SetStatusCondition(&status.Conditions, ready)
	if equality.Semantic.DeepEqual(before.Status, app.Status) {
		return nil
	}
	return r.Status().Patch(ctx, app, client.MergeFrom(before))
}

func merged(base, over map[string]string) map[string]string {
	out := map[string]string{}
	for _, part := range []map[string]string{base, over} {
		for key, value := range part {
			out[key] = value
		}
	}
	return out
}
