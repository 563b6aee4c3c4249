package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// guard decides about the rendered release: it returns why that is held back or refused, or the same as it was told if
// it has no objection. A guard may hold routes back instead, in the rendering.
type guard struct {
	ask func(*Reconciler, context.Context, *scope, *rendering, attempt) (hold, error)
	// paused, refused and held say that it is asked about resources that are paused, and about releases that those before
	// it refused, or held back.
	paused, refused, held bool
}

// guards are those that need no plan, in the order in which they are asked. The line of rollouts needs one: see begin.
var guards = []guard{
	{ask: (*Reconciler).spare, refused: true},
	{ask: (*Reconciler).returned, refused: true, held: true},
	{ask: (*Reconciler).namesake, paused: true, held: true},
	{ask: (*Reconciler).growth, held: true},
	{ask: (*Reconciler).stageBefore},
	{ask: (*Reconciler).owes},
	{ask: (*Reconciler).settle},
}

// guard asks the guards about an attempt.
func (r *Reconciler) guard(ctx context.Context, s *scope, wanted *rendering, found attempt) attempt {
	for _, guard := range guards {
		if (guard.paused || !s.paused) && (guard.refused || found.err == nil) && (guard.held || !found.waits()) {
			found.hold, found.err = guard.ask(r, ctx, s, wanted, found)
		}
	}
	if s.paused || found.err != nil || found.waits() {
		r.Hosts.Rest(s.resource) // nothing is about to be written: it keeps the hosts that it serves
	}
	return found
}

// growth refuses a release that lets a workload grow onto a claim of another resource.
func (r *Reconciler) growth(ctx context.Context, s *scope, _ *rendering, found attempt) (hold, error) {
	return found.hold, r.Actor.HoldGrowth(ctx, s.resource, found.observed.Objects,
		func(prefix string) []client.Object { return r.Observer.Claims(s.resource.GetNamespace(), prefix) })
}

// owes refuses a release whose stage `before` has not made the objects that it says.
func (r *Reconciler) owes(_ context.Context, _ *scope, wanted *rendering, found attempt) (hold, error) {
	return found.hold, wanted.owed
}

// settle holds routes back whose hosts another resource serves.
func (r *Reconciler) settle(ctx context.Context, s *scope, wanted *rendering, found attempt) (_ hold, err error) {
	wanted.heldRoutes, err = r.Hosts.Settle(ctx, s.resource, wanted.routes, found.observed.Objects)
	return found.hold, err
}
