package release

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// replicasManager owns the number of replicas of a Deployment that is autoscaled, and the note of what it started with. The
// operator's field manager must not: a field that it stops rendering would be removed, and the number fall to 1.
const replicasManager = FieldManager + "-replicas"

// autoscaled tells whether the number of replicas is left to an autoscaler, and with which number it starts.
func autoscaled(desired *unstructured.Unstructured) (initial int64, yes bool) {
	if desired.GetKind() != "Deployment" {
		return 0, false
	}
	if _, rendered, _ := unstructured.NestedFieldNoCopy(desired.Object, "spec", "replicas"); rendered {
		return 0, false
	}
	initial, err := strconv.ParseInt(desired.GetAnnotations()[v1.AnnotationInitialReplicas], 10, 32)
	return initial, err == nil
}

// startReplicas gives a Deployment that was just created the number of replicas to start with.
func (a *applier) startReplicas(ctx context.Context, created *unstructured.Unstructured, initial int64) error {
	if now, _, _ := unstructured.NestedInt64(created.Object, "spec", "replicas"); now == 1 && initial == 1 {
		return nil // nothing to note either: without the annotation it started with 1
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil,
		`{"metadata":{"annotations":{%q:"%d"}},"spec":{"replicas":%d}}`, v1.AnnotationStartedWith, initial, initial))
	if err := a.client.Patch(ctx, created, patch, client.FieldOwner(replicasManager)); err != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(created), err)
	}
	created.SetManagedFields(nil)
	return nil
}

// handOverReplicas keeps the number of replicas of a Deployment that is about to be rendered without one.
func (a *applier) handOverReplicas(ctx context.Context, change Change) error {
	if _, yes := autoscaled(change.Desired); !yes || change.Live.GetAnnotations()[v1.AnnotationInitialReplicas] != "" {
		return nil
	}
	live := kube.As[appsv1.Deployment](change.Live)
	if live == nil || live.Spec.Replicas == nil {
		return nil
	}
	replicas := int64(*live.Spec.Replicas)
	holder := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
	holder.SetGroupVersionKind(change.Desired.GroupVersionKind())
	holder.SetNamespace(live.GetNamespace())
	holder.SetName(live.GetName())
	holder.SetUID(live.GetUID())
	if replicas != 1 || live.GetAnnotations()[v1.AnnotationStartedWith] != "" { // without the annotation it is 1
		holder.SetAnnotations(map[string]string{v1.AnnotationStartedWith: strconv.FormatInt(replicas, 10)})
	}
	err := a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(holder), client.FieldOwner(replicasManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err)
	}
	return nil
}

// forgetStart takes the note of the number that autoscaling started with off a Deployment that is no longer autoscaled.
func (a *applier) forgetStart(ctx context.Context, written *unstructured.Unstructured) error {
	annotations := written.GetAnnotations()
	if annotations[v1.AnnotationInitialReplicas] != "" || annotations[v1.AnnotationStartedWith] == "" {
		return nil
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, v1.AnnotationStartedWith))
	if err := a.client.Patch(ctx, written, patch, client.FieldOwner(replicasManager)); err != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(written), err)
	}
	written.SetManagedFields(nil)
	return nil
}
