package cluster

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// onlyCompared are the kinds whose content is only compared with what is rendered: it need not be fetched again
// while the object has the version that was last verified.
var onlyCompared = map[schema.GroupKind]bool{
	kube.SecretKind.GroupKind(): true,
	{Kind: "ConfigMap"}:         true,
}

// payloads fetches the content of rendered objects of which the informers hold an outline. No other content is fetched:
// anyone can create large objects that name the resource as their controller.
func (o *Observer) payloads(ctx context.Context, owner types.UID, rendered []kube.Key, snapshot *Snapshot) error {
	for _, key := range rendered {
		object := snapshot.Objects[key]
		if object == nil || !kube.IsOutline(object) || onlyCompared[key.GroupKind] && o.isVerified(owner, key, object) {
			continue
		}
		whole := &unstructured.Unstructured{}
		whole.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
		err := o.live.Get(ctx, client.ObjectKeyFromObject(object), whole)
		switch {
		case apierrors.IsNotFound(err):
			delete(snapshot.Objects, key)
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", key, err)
		case ownerOf(whole) != ownerOf(object):
			delete(snapshot.Objects, key) // it has another owner by now
		default:
			kube.StripManagedFields(whole)
			snapshot.Objects[key] = whole
		}
	}
	return nil
}

func (o *Observer) isVerified(owner types.UID, key kube.Key, object client.Object) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.verified[owner][key] == object.GetResourceVersion()
}

// prune forgets the verified versions of objects that no longer exist.
func (o *Observer) prune(owner types.UID, snapshot *Snapshot) {
	o.mu.RLock()
	left := 0
	for key := range o.verified[owner] {
		if snapshot.Objects[key] != nil {
			left++
		}
	}
	same := left == len(o.verified[owner])
	o.mu.RUnlock()
	if same {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.verified[owner], func(key kube.Key, _ string) bool { return snapshot.Objects[key] == nil })
	if len(o.verified[owner]) == 0 {
		delete(o.verified, owner)
	}
}

// Verified records that the objects in a snapshot were found to be as rendered.
func (o *Observer) Verified(owner types.UID, snapshot *Snapshot) {
	for key, object := range snapshot.Objects {
		if isOutlined(key, object) && !o.isVerified(owner, key, object) {
			o.verify(owner, key, object)
		}
	}
}

// isOutlined reports whether the informers hold only the outline of an object.
func isOutlined(key kube.Key, object client.Object) bool {
	return key.GroupKind == kube.SecretKind.GroupKind() || kube.IsOutline(object) || kube.Large(object)
}

func (o *Observer) verify(owner types.UID, key kube.Key, object client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.verified[owner] == nil {
		o.verified[owner] = map[kube.Key]string{}
	}
	o.verified[owner][key] = object.GetResourceVersion()
}
