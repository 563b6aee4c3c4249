package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/status"
)

// report writes the status, if it differs, in one patch, and then tells what happened in events and in the log.
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
	if p.desired != nil {
		in.Digest, in.Rendered, in.Unserved = p.desired.Digest, p.desired.Objects, p.desired.Unserved
	}
	current := status.Summarize(in)
	if !meta.IsStatusConditionTrue(current.Conditions, v1.ConditionReconciling) {
		r.Rollouts.end(p.resource.GetUID())
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
	p.memory.written = written
	return nil
}

// tell makes an event and a log line of an error, where Ready changes with it.
func (r *Reconciler) tell(ctx context.Context, p *pass, current *v1.AppServiceStatus, problem *status.Problem) {
	if p.err == nil {
		return
	}
	before := meta.FindStatusCondition(p.previous.Conditions, v1.ConditionReady)
	now := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	if now.Reason != v1.ReasonPending && (before == nil || before.Reason != now.Reason || before.Message != now.Message) {
		log.FromContext(ctx).Info("reconcile failed", "reason", problem.Reason, "message", now.Message, "generation", p.resource.GetGeneration())
		r.event(p, corev1.EventTypeWarning, problem.Reason, now.Message)
	}
}

// tellAction makes an event and a log line of an action that was carried out.
func (r *Reconciler) tellAction(ctx context.Context, p *pass) {
	logger, revision, what := log.FromContext(ctx), 0, cmp.Or(p.memory.wrote.plan, "nothing had to be written")
	if p.snapshot.Record != nil {
		revision = p.snapshot.Record.Revision
	}
	switch p.state {
	case release.Absent:
		logger.Info("release installed", "revision", revision, "digest", p.desired.Digest)
		r.event(p, corev1.EventTypeNormal, v1.ReasonInstalled, fmt.Sprintf("release %d: %s", revision, what))
	case release.OutOfDate:
		logger.Info("release upgraded", "revision", revision, "digest", p.desired.Digest)
		r.event(p, corev1.EventTypeNormal, v1.ReasonUpgraded, fmt.Sprintf("release %d: %s", revision, what))
	case release.Unfinished:
		logger.Info("release resumed", "revision", revision, "digest", p.desired.Digest)
		r.event(p, corev1.EventTypeNormal, v1.ReasonRecovered, fmt.Sprintf("release %d was unfinished: %s", revision, what))
	case release.Drifted:
		logger.Info("drift corrected", "changes", p.plan.String())
		r.event(p, corev1.EventTypeNormal, v1.ReasonDriftCorrected, p.plan.String())
	}
	p.memory.wrote = wrote{}
}

// maxNote is the length of an event's note in characters; the API server takes 1,024 bytes.
const maxNote = 256

func (r *Reconciler) event(p *pass, kind, reason, note string) {
	if runes := []rune(note); len(runes) > maxNote {
		note = string(runes[:maxNote-1]) + "…"
	}
	r.Recorder.Event(p.resource, kind, reason, note)
}
