package controller

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/status"
)

// reasoned is an error that has a reason of its own in the API: nothing moves without help.
type reasoned interface {
	error
	Reason() string
}

// renderError says that the chart cannot be rendered.
type renderError struct{ err error }

func (e *renderError) Error() string { return e.err.Error() }
func (e *renderError) Unwrap() error { return e.err }

// Reason is that of Ready.
func (e *renderError) Reason() string { return v1.ReasonRenderFailed }

// rendering makes a renderError of an error that has no reason of its own.
func rendering(err error) error {
	var known reasoned
	if errors.As(err, &known) {
		return err
	}
	return &renderError{err}
}

// problem says in the words of the API what kept the objects from being as rendered; nil where nothing did.
func problem(state release.State, err error) *status.Problem {
	var known reasoned
	var previous *release.PreviousError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return &status.Problem{Reason: known.Reason(), Message: known.Error(), Blocked: true}
	case errors.As(err, &previous), stale(err):
		return &status.Problem{Reason: v1.ReasonPending, Message: err.Error()}
	}
	return &status.Problem{Reason: actionReason(state), Message: err.Error(), Blocked: refused(err)}
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
