package harness

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serveScalers says of ScaledObjects that they scale until the context ends, as KEDA does: with a finalizer and a label, and all four
// conditions. Their kind has to be served.
func (c *Cluster) serveScalers(ctx context.Context) error {
	return follow(ctx, c, ofKind("keda.sh/v1alpha1", "ScaledObject"), c.scale)
}

func (c *Cluster) scale(ctx context.Context, scaler *unstructured.Unstructured) {
	after := scaler.DeepCopy()
	if scaler.GetDeletionTimestamp() != nil {
		after.SetFinalizers(nil)
		_ = c.Client.Patch(ctx, after, client.MergeFrom(scaler))
		return
	}
	if len(scaler.GetFinalizers()) == 0 {
		labels := scaler.GetLabels()
		labels["scaledobject.keda.sh/name"] = scaler.GetName()
		after.SetLabels(labels)
		after.SetFinalizers([]string{"finalizer.keda.sh"})
		_ = c.Client.Patch(ctx, after, client.MergeFrom(scaler)) // its event comes back here
		return
	}
	if said, _, _ := unstructured.NestedSlice(scaler.Object, "status", "conditions"); len(said) > 0 {
		return
	}
	_ = unstructured.SetNestedSlice(after.Object, []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "ScaledObjectReady", "message": "ScaledObject is defined correctly and is ready for scaling"},
		map[string]any{"type": "Active", "status": "False", "reason": "ScalerNotActive", "message": "Scaling is not performed because triggers are not active"},
		map[string]any{"type": "Fallback", "status": "False", "reason": "NoFallbackFound", "message": "No fallbacks are active on this scaled object"},
		map[string]any{"type": "Paused", "status": "Unknown"},
	}, "status", "conditions")
	_ = c.Client.Status().Patch(ctx, after, client.MergeFrom(scaler))
}
