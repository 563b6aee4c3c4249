package livestate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Complete reads the content of the wanted objects of a snapshot that the informers hold as an outline.
func (o *Observer) Complete(ctx context.Context, snapshot *Snapshot, wanted func(client.Object) bool) error {
	objects := snapshot.Objects
	for key, object := range objects {
		if !kube.IsOutline(object) || !wanted(object) {
			continue
		}
		full := kube.Object(object.GetObjectKind().GroupVersionKind())
		err := o.live.Get(ctx, client.ObjectKeyFromObject(object), full)
		switch {
		case apierrors.IsNotFound(err):
			delete(objects, key)
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", key, err)
		case ownerOf(full) != ownerOf(object):
			delete(objects, key) // it has another owner by now
		default:
			full.SetManagedFields(nil)
			objects[key] = full
		}
	}
	return nil
}
