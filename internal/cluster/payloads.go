package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// payloads fetches each Secret that has changed since its payload was last found to be right.
func (o *Observer) payloads(ctx context.Context, owner types.UID, snapshot *Snapshot) error {
	for key, object := range snapshot.Objects {
		if _, metadata := object.(*metav1.PartialObjectMetadata); !metadata || o.isVerified(owner, key, object) {
			continue
		}
		secret := &unstructured.Unstructured{}
		secret.SetGroupVersionKind(kube.SecretKind)
		err := o.live.Get(ctx, client.ObjectKeyFromObject(object), secret)
		switch {
		case apierrors.IsNotFound(err):
			delete(snapshot.Objects, key)
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", key, err)
		case !slices.Equal(controllerOf(secret), controllerOf(object)):
			delete(snapshot.Objects, key) // it is somebody else's by now
		default:
			snapshot.Objects[key] = secret
		}
	}
	return nil
}

func (o *Observer) isVerified(owner types.UID, key kube.Key, object client.Object) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.verified[owner][key] == object.GetResourceVersion()
}

// prune forgets which payloads were right of Secrets that are no longer there.
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

// Verified notes that the payloads of the Secrets in a snapshot were found to be right.
func (o *Observer) Verified(owner types.UID, snapshot *Snapshot) {
	for key, object := range snapshot.Objects {
		if key.GroupKind != kube.SecretKind.GroupKind() || o.isVerified(owner, key, object) {
			continue
		}
		o.verify(owner, key, object)
	}
}

func (o *Observer) verify(owner types.UID, key kube.Key, object client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.verified[owner] == nil {
		o.verified[owner] = map[kube.Key]string{}
	}
	o.verified[owner][key] = object.GetResourceVersion()
}
