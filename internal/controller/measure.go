package controller

import (
	"context"
	"time"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/metrics"
	"github.com/example/appservice-operator/internal/release"
)

// actions are what the states are brought to an end by.
var actions = map[release.State]metrics.Action{
	release.Absent: metrics.Install, release.OutOfDate: metrics.Upgrade, release.Unfinished: metrics.Resume, release.Drifted: metrics.Repair,
}

// timed carries out the action of the state and notes what it took.
func (r *Reconciler) timed(ctx context.Context, p *pass) error {
	began := r.Clock.Now()
	err := r.act(ctx, p)
	p.acted = p.state != release.InSync
	p.memory.took += r.Clock.Since(began)
	return err
}

// measure counts a reconcile that is over, and gave err.
func (r *Reconciler) measure(p *pass, began time.Time, err error) {
	outcome := p.outcome(err)
	r.Metrics.Reconciled(outcome, r.Clock.Since(began))
	if outcome != metrics.Failed {
		return
	}
	problem := p.problem()
	r.Metrics.Failed(problem.Reason)
	if p.acted && problem.Reason != v1.ReasonPending {
		p.memory.took = 0
		r.Metrics.ActionFailed(actions[p.state])
	}
}

// measureAction counts an action that ended well. Its parts may have been carried out by several reconciles.
func (r *Reconciler) measureAction(p *pass) {
	took := p.memory.took
	p.memory.took = 0
	action, acted := actions[p.state]
	if !acted {
		return
	}
	r.Metrics.Acted(action, took)
	if action != metrics.Repair {
		return
	}
	for _, object := range p.plan.Create {
		r.Metrics.Corrected(kube.KeyOf(object).Kind, "create")
	}
	for _, change := range p.plan.Apply {
		r.Metrics.Corrected(kube.KeyOf(change.Desired).Kind, "apply")
	}
	for _, object := range p.plan.Delete {
		r.Metrics.Corrected(kube.KeyOf(object).Kind, "delete")
	}
}

// outcome is what came of a reconcile that gave err.
func (p *pass) outcome(err error) metrics.Outcome {
	switch {
	case err != nil:
		return metrics.Error
	case p.resource == nil || p.resource.GetDeletionTimestamp() != nil:
		return metrics.Gone
	case p.snapshot == nil: // before the next attempt is due
		return metrics.Deferred
	case p.err != nil && p.reported:
		return metrics.Failed
	case p.err != nil:
		return metrics.Deferred
	case p.acted:
		return metrics.Acted
	case actions[p.state] != "": // more rollouts than are allowed
		return metrics.Deferred
	}
	return metrics.Unchanged
}
