package controller

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/reference"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/status"
)

// renderError says that the chart cannot be rendered.
type renderError struct{ err error }

func (e *renderError) Error() string { return e.err.Error() }
func (e *renderError) Unwrap() error { return e.err }

// problem says in the words of the API what kept the objects from being as rendered; nil where nothing did.
func problem(state release.State, err error) *status.Problem {
	if err == nil {
		return nil
	}
	out := &status.Problem{Message: err.Error(), Blocked: true}
	var insecure *postrender.PodSecurityError
	var missing *reference.MissingError
	var host *HostConflictError
	var refusal *release.RefusedError
	var invalid *render.InvalidSpecError
	var rendering *renderError
	var untracked *untrackedError
	var notOurs *release.NotOursError
	var previous *release.PreviousError
	var damaged *release.DamagedError
	switch {
	case errors.As(err, &insecure):
		out.Reason, out.Message = v1.ReasonPodSecurityViolation, insecure.Error()
	case errors.As(err, &missing):
		out.Reason = v1.ReasonDependencyMissing
	case errors.As(err, &host):
		out.Reason = v1.ReasonHostConflict
	case errors.As(err, &refusal):
		out.Reason, out.Message = refusal.Reason, refusal.Error()
	case errors.As(err, &invalid):
		out.Reason = v1.ReasonInvalidSpec
	case errors.As(err, &rendering):
		out.Reason = v1.ReasonRenderFailed
	case errors.As(err, &untracked):
		out.Reason = v1.ReasonAPIUnavailable
	case errors.As(err, &notOurs):
		out.Reason = v1.ReasonResourceExists
	case errors.As(err, &damaged):
		out.Reason = v1.ReasonRecordDamaged
	case errors.As(err, &previous), stale(err):
		out.Reason, out.Blocked = v1.ReasonPending, false
	default:
		out.Reason = actionReason(state)
		out.Blocked = refused(err)
	}
	return out
}

// problem is what keeps the objects from being as rendered, be it an error or that some are still to go.
func (p *pass) problem() *status.Problem {
	if p.err == nil && p.plan != nil {
		if awaits := p.plan.Awaits(); awaits != "" {
			return &status.Problem{Reason: v1.ReasonPending, Message: awaits}
		}
	}
	return problem(p.action(), p.err)
}

// stale tells whether the caches were too old to go on: trying again is all that it takes.
func stale(err error) bool {
	var stale *release.StaleError
	return errors.As(err, &stale) || apierrors.IsConflict(err)
}

func actionReason(state release.State) string {
	switch state {
	case release.Absent:
		return v1.ReasonInstallFailed
	case release.Drifted:
		return v1.ReasonRepairFailed
	}
	return v1.ReasonUpgradeFailed
}

// refused tells whether the API server said no, rather than not now.
func refused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTooManyRequests(err) && !apierrors.IsConflict(err) && !apierrors.IsTimeout(err) && code != http.StatusRequestTimeout
}

// action is the state in the words of users: the first release, taken up again, is still the install.
func (p *pass) action() release.State {
	if p.state == release.Unfinished && p.snapshot.Record != nil && p.snapshot.Record.Revision == 1 {
		return release.Absent
	}
	return p.state
}
