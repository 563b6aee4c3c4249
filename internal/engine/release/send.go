package release

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// send applies fields to a live object, or creates it if that is nil, and returns it as written.
func (a *applier) send(ctx context.Context, desired client.Object, body render.Body, live client.Object,
	options ...client.PatchOption) (*unstructured.Unstructured, error) {
	written := identity(desired)
	if live == nil {
		return written, a.session.Apply(ctx, written, body.With(map[string]string{"resourceVersion": neverAVersion}),
			options...)
	}
	options = append(options, client.ForceOwnership)
	return written, a.versioned(ctx, live, func(version string) error {
		return a.session.Apply(ctx, written,
			body.With(map[string]string{"uid": string(live.GetUID()), "resourceVersion": version}), options...)
	})
}

// versioned writes with the version in which a live object was compared as a precondition, and again if only its status
// has changed since.
func (a *applier) versioned(ctx context.Context, live client.Object, write func(version string) error) error {
	for version, attempt := live.GetResourceVersion(), 1; ; attempt++ {
		err := write(version)
		if !apierrors.IsConflict(err) || attempt == statusRaces {
			return err
		}
		if version = a.newStatus(ctx, live); version == "" {
			return err
		}
	}
}

// newStatus returns the version of an object if only its status has changed since it was compared; "" if more has
// changed, or if its kind does not show that. Other metadata may have changed: that makes no difference.
func (a *applier) newStatus(ctx context.Context, seen client.Object) string {
	now := kube.Metadata(seen.GetObjectKind().GroupVersionKind())
	if err := a.live.Get(ctx, client.ObjectKeyFromObject(seen), now); err != nil || now.DeletionTimestamp != nil {
		return ""
	}
	was, is := metav1.GetControllerOfNoCopy(seen), metav1.GetControllerOfNoCopy(now)
	if !kube.SameGeneration(seen, now) || plan.StampOf(seen) != plan.StampOf(now) || (was == nil) != (is == nil) ||
		was != nil && was.UID != is.UID ||
		seen.GetLabels()[v1.LabelManaged] != now.Labels[v1.LabelManaged] {
		return ""
	}
	return now.ResourceVersion
}

// statusRaces is how often a write is sent again that failed only because the status had changed.
const statusRaces = 5

// neverAVersion is a resource version that no object has: with it, an apply succeeds only if the object does not exist.
const neverAVersion = "1"
