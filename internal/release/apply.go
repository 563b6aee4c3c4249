package release

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
)

// FieldManager owns the fields that the operator writes, whatever its binary is called.
const FieldManager = "appservice-operator"

// applier carries out plans with server-side apply: one request per object, exact removal of fields that are no longer
// rendered however many writes were lost before, and a refusal by the API server where the object is not the one that
// was looked at.
type applier struct {
	client   client.Client
	live     client.Reader
	observer *cluster.Observer
}

// check looks at what stands in the way of creating objects, before anything is written. Objects that are there and
// controlled by the owner, although the caches do not show them, move from Create to Apply.
func (a *applier) check(ctx context.Context, owner client.Object, plan *Plan) (*Plan, error) {
	checked := &Plan{Apply: plan.Apply, Delete: plan.Delete, Going: plan.Going}
	for _, desired := range plan.Create {
		live, err := a.ours(ctx, owner, desired)
		switch {
		case err != nil:
			return nil, err
		case live == nil:
			checked.Create = append(checked.Create, desired)
		default:
			checked.Apply = append(checked.Apply, Change{Desired: desired, Live: live})
		}
	}
	return checked, nil
}

// ours gives the object that has the name of a rendered one, nil where there is none. The error is a NotOursError or a
// PreviousError where it does not belong to the owner, a StaleError where it is going.
func (a *applier) ours(ctx context.Context, owner client.Object, desired *unstructured.Unstructured) (client.Object, error) {
	live := kube.Metadata(desired.GroupVersionKind())
	err := a.live.Get(ctx, client.ObjectKeyFromObject(desired), live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot look for %s: %w", kube.KeyOf(desired), err)
	case !controls(owner, live) && !disowned(desired, live):
		return nil, inTheWay(owner, kube.KeyOf(desired), live)
	case live.DeletionTimestamp != nil:
		return nil, &StaleError{fmt.Errorf("%s is being deleted", kube.KeyOf(desired))}
	}
	return live, nil
}

// dryRun asks the API server whether it would take a plan of several writes. Nothing is written.
func (a *applier) dryRun(ctx context.Context, owner client.Object, plan *Plan) error {
	for _, change := range plan.Apply {
		if refused := staysHeadless(change); refused != nil {
			return refused
		}
	}
	if len(plan.Create)+len(plan.Apply) < 2 {
		return nil
	}
	for _, desired := range plan.Create {
		if _, err := a.create(ctx, owner, desired, client.DryRunAll); err != nil {
			return err
		}
	}
	for _, change := range plan.Apply {
		if _, err := a.apply(ctx, change, client.DryRunAll, client.ForceOwnership); err != nil {
			return err
		}
	}
	return nil
}

// execute writes the plan and stops at the first object that is refused.
func (a *applier) execute(ctx context.Context, owner client.Object, plan *Plan) error {
	for _, desired := range plan.Create {
		written, err := a.create(ctx, owner, desired)
		if err != nil {
			return err
		}
		if initial, yes := autoscaled(desired); yes {
			if err := a.startReplicas(ctx, written, initial); err != nil {
				return err
			}
		}
		a.observer.Wrote(owner.GetUID(), written)
	}
	for _, change := range plan.Apply {
		if err := a.handOverReplicas(ctx, change); err != nil {
			return err
		}
		written, err := a.apply(ctx, change, client.ForceOwnership)
		if err != nil {
			return err
		}
		if err := a.forgetStart(ctx, written); err != nil {
			return err
		}
		a.observer.Wrote(owner.GetUID(), written)
	}
	for _, object := range plan.Delete {
		if err := a.delete(ctx, object); err != nil {
			return err
		}
		a.observer.Deleted(owner.GetUID(), object)
	}
	return nil
}

// undo deletes what an action created: objects that were to be created and are there, the owner's by controller reference.
func (a *applier) undo(ctx context.Context, owner client.Object, created []*unstructured.Unstructured) error {
	for _, desired := range created {
		live, err := a.ours(ctx, owner, desired)
		if err != nil || live == nil || metav1.GetControllerOfNoCopy(live) == nil {
			continue // nobody's to delete but its owner's
		}
		if err := a.delete(ctx, live); err != nil {
			return err
		}
		a.observer.Deleted(owner.GetUID(), live)
	}
	return nil
}

// neverAVersion is a resource version that no object has: with it, an apply succeeds only where nothing is there.
const neverAVersion = "1"

// create writes one object that is not there. Where it is there after all, and the owner's, it is applied to.
func (a *applier) create(ctx context.Context, owner client.Object, desired *unstructured.Unstructured, options ...client.ApplyOption) (*unstructured.Unstructured, error) {
	written, err := a.apply(ctx, Change{Desired: desired}, options...)
	if !apierrors.IsConflict(err) {
		return written, err
	}
	live, lookErr := a.ours(ctx, owner, desired)
	if lookErr != nil {
		return nil, lookErr
	}
	if live == nil {
		return nil, err
	}
	return a.apply(ctx, Change{Desired: desired, Live: live}, append(options, client.ForceOwnership)...)
}

// apply writes one object. The write is refused unless the very object is there that was looked at, or none where none was.
func (a *applier) apply(ctx context.Context, change Change, options ...client.ApplyOption) (*unstructured.Unstructured, error) {
	object := change.Desired.DeepCopy()
	if change.Live == nil {
		object.SetResourceVersion(neverAVersion)
	} else {
		object.SetUID(change.Live.GetUID())
	}
	options = append(options, client.FieldOwner(FieldManager))
	if err := a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
		return nil, a.explain(ctx, change, fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err))
	}
	object.SetManagedFields(nil)
	return object, nil
}

func (a *applier) delete(ctx context.Context, object client.Object) error {
	err := a.client.Delete(ctx, object,
		client.Preconditions{UID: ptr.To(object.GetUID())}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(object), err)
	}
	return nil
}

// controls tells whether an object is the owner's: by its controller reference, as a claim that is kept for it, or as a
// cluster-scoped object with its UID.
func controls(owner, object client.Object) bool {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID == owner.GetUID()
	}
	if object.GetNamespace() == "" {
		return object.GetLabels()[v1.LabelOwner] == string(owner.GetUID())
	}
	return kube.RetainedFor(object) == owner.GetName()
}

// disowned tells whether an object without a controller is what was rendered here, and somebody took off by what it is known.
// The stamp covers the owner's UID, so the object of an earlier owner has another one.
func disowned(desired, live client.Object) bool {
	stamp := live.GetAnnotations()[postrender.AnnotationStamp]
	return stamp != "" && stamp == desired.GetAnnotations()[postrender.AnnotationStamp] && metav1.GetControllerOfNoCopy(live) == nil
}

// inTheWay is the error for an object that has a name we need.
func inTheWay(owner client.Object, key kube.Key, object client.Object) error {
	controller := metav1.GetControllerOfNoCopy(object)
	switch {
	case controller != nil && sameKind(controller, owner) && controller.Name == owner.GetName():
		return &PreviousError{key}
	case controller != nil:
		return &NotOursError{Key: key, Owner: fmt.Sprintf("controlled by %s %q", controller.Kind, controller.Name)}
	case object.GetAnnotations()["meta.helm.sh/release-name"] != "":
		return &NotOursError{Key: key, Owner: fmt.Sprintf("part of Helm release %q, which this operator did not make", object.GetAnnotations()["meta.helm.sh/release-name"])}
	}
	return &NotOursError{Key: key, Owner: "not managed by this operator"}
}

func sameKind(reference *metav1.OwnerReference, object client.Object) bool {
	kind := object.GetObjectKind().GroupVersionKind().GroupKind()
	return schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).GroupKind() == kind
}
