package controller

import (
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/status"
)

// report writes the status, if it differs and nothing flaps, in one patch, and then tells what happened in events and in the
// log.
func (r *Reconciler) report(ctx context.Context, p *pass) error {
	in := status.Input{
		Resource: p.resource,
		Previous: p.previous,
		Snapshot: p.snapshot,
		Problem:  p.problem(),
		Missing:  p.advice,
		Causes:   p.causes,
		Paused:   p.paused,
		Now:      metav1.NewTime(r.Clock.Now()),
	}
	if p.outline != nil {
		in.Digest, in.Rendered, in.Unserved = p.outline.Digest, p.outline.Keys, p.outline.Unserved
	}
	current := status.Summarize(in)
	if !meta.IsStatusConditionTrue(current.Conditions, v1.ConditionReconciling) {
		r.Rollouts.end(p.resource.GetUID())
		if p.err == nil {
			p.memory.desired = nil
		}
	}
	if p.err == nil { // attempts that fail have a pace of their own
		if p.damped = p.memory.pace.wait(r.Clock.Now(), p.previous, current); p.damped > 0 {
			return nil
		}
	}
	if err := r.writeStatus(ctx, p, current); err != nil {
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil // deleted meanwhile, or made anew
		}
		return fmt.Errorf("cannot write status: %w", err)
	}
	r.tell(ctx, p, current, in.Problem)
	return nil
}

func statusOf(resource *unstructured.Unstructured) (*v1.AppServiceStatus, error) {
	content, _, err := unstructured.NestedMap(resource.Object, "status")
	if err != nil {
		return nil, fmt.Errorf("cannot read status: %w", err)
	}
	out := &v1.AppServiceStatus{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		return nil, fmt.Errorf("cannot read status: %w", err)
	}
	return out, nil
}

func (r *Reconciler) writeStatus(ctx context.Context, p *pass, current *v1.AppServiceStatus) error {
	if equality.Semantic.DeepEqual(p.previous, current) {
		return nil
	}
	// As it is stored: a counter that is 0 may not be there yet.
	stored, _, err := unstructured.NestedMap(p.resource.Object, "status")
	if err != nil {
		return err
	}
	before, err := json.Marshal(map[string]any{"status": stored})
	if err != nil {
		return err
	}
	// With the UID, so that it never falls on another resource that has the name by now.
	after, err := json.Marshal(map[string]any{"status": current, "metadata": map[string]any{"uid": p.resource.GetUID()}})
	if err != nil {
		return err
	}
	patch, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return err
	}
	written := &unstructured.Unstructured{}
	written.SetGroupVersionKind(p.resource.GroupVersionKind())
	written.SetNamespace(p.resource.GetNamespace())
	written.SetName(p.resource.GetName())
	if err := r.Client.Status().Patch(ctx, written, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(release.FieldManager)); err != nil {
		return err
	}
	written.SetManagedFields(nil)
	r.memory.wrote(p.memory, written)
	return nil
}
