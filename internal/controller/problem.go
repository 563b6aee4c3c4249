package controller

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/postrender"
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

// renderFailed makes a renderError of an error that has no reason of its own.
func renderFailed(err error) error {
	var known reasoned
	if errors.As(err, &known) {
		return err
	}
	return &renderError{err}
}

// decayingError says that a release is refused and the recorded one cannot be kept alive either.
type decayingError struct{ refusal, err error }

func (e *decayingError) Error() string {
	return fmt.Sprintf("%v; what runs is not repaired meanwhile: %v", e.refusal, e.err)
}
func (e *decayingError) Unwrap() error { return e.refusal }

// problemOf says in the words of the API what keeps the objects from being as rendered, be it an error or that some are still to go; nil
// if nothing does.
func problemOf(done action) *status.Problem {
	var known reasoned
	var previous *release.PreviousError
	switch {
	case done.err == nil && done.plan != nil && done.plan.Awaits() != "":
		return &status.Problem{Reason: v1.ReasonPending, Message: done.plan.Awaits()}
	case done.err == nil:
		return nil
	case errors.As(done.err, &known):
		return &status.Problem{Reason: known.Reason(), Message: words(done.err, known), Blocked: true}
	case errors.As(done.err, &previous), stale(done.err):
		return &status.Problem{Reason: v1.ReasonPending, Message: done.err.Error()}
	}
	failure := release.ActionOf(done.state).Failure
	if record := done.there.Record; done.state == release.Unfinished && record != nil && record.Revision > 1 {
		failure = v1.ReasonUpgradeFailed // the first release, taken up again, is still the install; any other is not
	}
	return &status.Problem{Reason: failure, Message: done.err.Error(), Blocked: refused(done.err)}
}

// words are those of the error that has a reason, and of what else went wrong because of it.
func words(err error, known reasoned) string {
	var decaying *decayingError
	if errors.As(err, &decaying) {
		return (&decayingError{known, decaying.err}).Error()
	}
	return known.Error()
}

// stale reports whether the caches were too old to go on: trying again is all that it takes.
func stale(err error) bool {
	var stale *release.StaleError
	return errors.As(err, &stale) || apierrors.IsConflict(err)
}

// blocked reports whether nothing moves without help.
func blocked(err error) bool {
	var known reasoned
	return errors.As(err, &known) || refused(err)
}

// refused reports whether the API server said no, rather than not now.
func refused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTooManyRequests(err) && !apierrors.IsConflict(err) && !apierrors.IsTimeout(err) && code != http.StatusRequestTimeout
}

// awaited reports whether a change of something that is watched ends the error, and trying costs nothing.
func awaited(err error) bool {
	var missing *dependency.MissingError
	var conflict *hosts.ConflictError
	var insecure *postrender.PodSecurityError
	return errors.As(err, &missing) || errors.As(err, &conflict) || errors.As(err, &insecure)
}
