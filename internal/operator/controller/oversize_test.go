package controller

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// compacting reads resources as the cache holds them.
type compacting struct{ client.Client }

func (c compacting) Get(ctx context.Context, name client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := c.Client.Get(ctx, name, object, options...); err != nil {
		return err
	}
	if resource, is := object.(*unstructured.Unstructured); is {
		compact, err := kube.Compact(resource, 0)
		if err != nil {
			return err
		}
		*resource = *compact
	}
	return nil
}

func TestAResourceThatIsTooLargeIsNotRendered(t *testing.T) {
	b := newBench(t, "nginx")
	b.Client, b.InFlight = compacting{b.client}, limits.NewInFlight()
	b.installed(t)
	b.reconcile(t)
	if b.renders != 1 {
		t.Fatalf("it was rendered %d times, want once", b.renders)
	}
	b.change(t, strings.Repeat("x", limits.Resource))
	for range 2 {
		b.reconcile(t)
	}
	web := b.web(t)
	ready := meta.FindStatusCondition(web.Status.Conditions, v1.ConditionReady)
	if ready.Reason != v1.ReasonTooLarge || ready.ObservedGeneration != web.Generation || !strings.Contains(ready.Message, "more than 48 KiB") ||
		!meta.IsStatusConditionTrue(web.Status.Conditions, v1.ConditionStalled) {
		t.Errorf("got %+v, want it refused", ready)
	}
	if b.renders != 1 || web.Status.NextAttemptTime != nil {
		t.Errorf("it was rendered %d times, want once; the next attempt is announced for %v, want none", b.renders, web.Status.NextAttemptTime)
	}
	b.change(t, "nginx")
	b.reconcile(t)
	if b.renders != 2 {
		t.Errorf("it was rendered %d times, want twice: it is as large as it may be again", b.renders)
	}
	if _, err := b.InFlight.Begin(t.Context(), limits.Resource+1); err != nil {
		t.Error(err)
	}
}

func TestATooLargeResourceIsLeftAloneWhileItIsPaused(t *testing.T) {
	b := newBench(t, "nginx")
	b.Client = compacting{b.client}
	web := b.web(t)
	web.Spec.Paused, web.Spec.Image = true, strings.Repeat("x", limits.Resource)
	require.NoError(t, b.client.Update(t.Context(), web))
	b.reconcile(t)
	if ready := meta.FindStatusCondition(b.web(t).Status.Conditions, v1.ConditionReady); ready.Reason != v1.ReasonPaused {
		t.Errorf("got %s, want %s", ready.Reason, v1.ReasonPaused)
	}
}
