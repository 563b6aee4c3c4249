package controller

// This file translates errors into problems of the API, and determines what may end them.

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/hosts"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/status"
)

// reasoned is an error that has a reason of its own in the API: there is no progress without help.
type reasoned interface {
	error
	Reason() string
}

// hinted is an error with a better hint than that of its reason.
type hinted interface {
	error
	Hint() string
}

// deleting is an error that ends when objects are gone that are being deleted.
type deleting interface {
	error
	Deletions() []*kube.Deletion
}

// parted is an error that summarizes several.
type parted interface {
	error
	Parts() []string
}

// renderError reports that the chart cannot be rendered.
type renderError struct{ Err error }

func (e *renderError) Error() string { return e.Err.Error() }
func (e *renderError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *renderError) Reason() string { return v1.ReasonRenderFailed }

// renderFailed wraps an error without a reason of its own in a RenderError.
func renderFailed(err error) error {
	if is[reasoned](err) {
		return err
	}
	return &renderError{err}
}

// decayingError reports that a release is refused and the recorded one cannot be repaired either.
type decayingError struct{ Refusal, Err error }

func (e *decayingError) Error() string {
	return fmt.Sprintf("%v; in addition, the running release cannot be repaired: %v", e.Refusal, e.Err)
}
func (e *decayingError) Unwrap() error { return e.Refusal }

// problemOf returns the problem that keeps the objects from being as rendered: an error, or objects of a plan that are
// still being deleted; nil if there is none. Failure is the reason if the error has none of its own.
func problemOf(err error, plan *plan.Plan, failure string, now time.Time) *status.Problem {
	var known reasoned
	var mistake *render.ChartError
	switch {
	case err == nil && plan != nil && plan.Awaits() != "":
		return awaiting(plan.Awaits(), plan.Deletions(), now)
	case err == nil:
		return nil
	case errors.As(err, &known):
		return &status.Problem{Reason: known.Reason(), Message: words(err, known), Hint: hint(known), Parts: parts(known),
			Blocked: true}
	case errors.As(err, &mistake):
		return &status.Problem{Reason: failure, Message: err.Error(), Hint: mistake.Hint(), Blocked: true}
	case is[*release.PreviousError](err), isStale(err):
		going, _ := errors.AsType[deleting](err)
		if going == nil {
			return &status.Problem{Reason: v1.ReasonPending, Message: err.Error()}
		}
		return awaiting(err.Error(), going.Deletions(), now)
	}
	return &status.Problem{Reason: failure, Message: err.Error(), Blocked: release.Refused(err)}
}

// awaiting returns the problem of waiting until objects are gone: there is no progress without help once one of them
// should be.
func awaiting(message string, objects []*kube.Deletion, now time.Time) *status.Problem {
	for _, going := range objects {
		if going.Overdue(now) {
			return &status.Problem{Reason: v1.ReasonDeletionBlocked, Message: message, Hint: going.Remedy(), Blocked: true}
		}
	}
	return &status.Problem{Reason: v1.ReasonPending, Message: message}
}

// words returns the message of the error that has a reason, and of other errors that follow from it.
func words(err error, known reasoned) string {
	if decaying, found := errors.AsType[*decayingError](err); found {
		return (&decayingError{known, decaying.Err}).Error()
	}
	if against, is := known.(*policy.Error); is {
		return against.Shown()
	}
	return known.Error()
}

// parts returns the errors that an error summarizes; nil if there are none.
func parts(err error) []string {
	if known, found := errors.AsType[parted](err); found {
		return known.Parts()
	}
	return nil
}

// hint returns what helps against an error; empty if the error has no hint.
func hint(err error) string {
	if known, found := errors.AsType[hinted](err); found {
		return known.Hint()
	}
	return ""
}

// is reports whether an error, or one that it wraps, is of a type.
func is[T error](err error) bool {
	_, found := errors.AsType[T](err)
	return found
}

// isStale reports whether the caches were too old to continue, or something is about to end: trying again is enough.
func isStale(err error) bool {
	return is[*release.StaleError](err) || is[*release.EarlierRunError](err) || apierrors.IsConflict(err)
}

// isBlocked reports whether there is no progress without help.
func isBlocked(err error) bool {
	return is[reasoned](err) || is[*render.ChartError](err) || release.Refused(err)
}

// isRetried reports whether only the next attempt may end the error: no watched object does, and neither spec nor chart
// is at fault.
func isRetried(err error) bool {
	var refused *plan.RefusedError
	switch {
	case err == nil:
		return false
	case is[*decayingError](err):
		return true // the running release is repaired then
	case isAwaited(err), isStale(err), isUnrenderable(err):
		return false
	case errors.As(err, &refused):
		return refused.Err != nil // otherwise the API server was not asked
	}
	return true
}

// isUnrenderable reports whether the chart cannot be rendered for a spec and its defaults, whatever the state of the
// cluster.
func isUnrenderable(err error) bool {
	return is[*defaults.Error](err) || // whatever they run into
		!isAwaited(err) && (limits.Is(err) || is[*render.InvalidSpecError](err) || is[*render.ChartError](err) ||
			is[*postrender.ImageError](err) || is[*renderError](err))
}

// isAwaited reports whether a change of a watched object ends the error, and trying costs nothing.
func isAwaited(err error) bool {
	return is[*release.PreviousError](err) || is[*release.EarlierRunError](err) || is[*reference.MissingError](err) ||
		is[*render.UnservedError](err) || is[*release.GeneratedLostError](err) ||
		is[*hosts.ConflictError](err) || is[*postrender.PodSecurityError](err) || is[*policy.Error](err)
}
