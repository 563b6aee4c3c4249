// Package problem translates errors into problems of the API, and determines what may end them.
package problem

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/extent"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/status"
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

// parted is an error that summarizes several.
type parted interface {
	error
	Parts() []string
}

// RenderError reports that the chart cannot be rendered.
type RenderError struct{ Err error }

func (e *RenderError) Error() string { return e.Err.Error() }
func (e *RenderError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *RenderError) Reason() string { return v1.ReasonRenderFailed }

// RenderFailed wraps an error without a reason of its own in a RenderError.
func RenderFailed(err error) error {
	var known reasoned
	if errors.As(err, &known) {
		return err
	}
	return &RenderError{err}
}

// DecayingError reports that a release is refused and the recorded one cannot be repaired either.
type DecayingError struct{ Refusal, Err error }

func (e *DecayingError) Error() string {
	return fmt.Sprintf("%v; what runs is not repaired meanwhile: %v", e.Refusal, e.Err)
}
func (e *DecayingError) Unwrap() error { return e.Refusal }

// Of returns the problem that keeps the objects from being as rendered: an error, or objects of a plan that are still being deleted;
// nil if there is none. Failure is the reason if the error has none of its own.
func Of(err error, plan *release.Plan, failure string) *status.Problem {
	var known reasoned
	var previous *release.PreviousError
	var mistake *render.ChartError
	switch {
	case err == nil && plan != nil && plan.Awaits() != "":
		return &status.Problem{Reason: v1.ReasonPending, Message: plan.Awaits()}
	case err == nil:
		return nil
	case errors.As(err, &known):
		return &status.Problem{Reason: known.Reason(), Message: words(err, known), Hint: hint(known), Parts: parts(known), Blocked: true}
	case errors.As(err, &mistake):
		return &status.Problem{Reason: failure, Message: err.Error(), Hint: mistake.Hint(), Blocked: true}
	case errors.As(err, &previous), Stale(err):
		return &status.Problem{Reason: v1.ReasonPending, Message: err.Error()}
	}
	return &status.Problem{Reason: failure, Message: err.Error(), Blocked: release.Refused(err)}
}

// words returns the message of the error that has a reason, and of other errors that follow from it.
func words(err error, known reasoned) string {
	var decaying *DecayingError
	if errors.As(err, &decaying) {
		return (&DecayingError{known, decaying.Err}).Error()
	}
	return known.Error()
}

// parts returns the errors that an error summarizes; nil if there are none.
func parts(err error) []string {
	var known parted
	if errors.As(err, &known) {
		return known.Parts()
	}
	return nil
}

// hint returns what helps against an error; empty if the error has no hint.
func hint(err error) string {
	var known hinted
	if errors.As(err, &known) {
		return known.Hint()
	}
	return ""
}

// Stale reports whether the caches were too old to continue, or something is about to end: trying again is enough.
func Stale(err error) bool {
	var stale *release.StaleError
	var earlier *release.EarlierRunError
	return errors.As(err, &stale) || errors.As(err, &earlier) || apierrors.IsConflict(err)
}

// Blocked reports whether there is no progress without help.
func Blocked(err error) bool {
	var known reasoned
	var mistake *render.ChartError
	return errors.As(err, &known) || errors.As(err, &mistake) || release.Refused(err)
}

// Retried reports whether only the next attempt may end the error: no watched object does, and neither spec nor chart is at
// fault.
func Retried(err error) bool {
	var decaying *DecayingError
	var refused *release.RefusedError
	switch {
	case err == nil:
		return false
	case errors.As(err, &decaying):
		return true // the running release is repaired then
	case Awaited(err), Stale(err), Unrenderable(err):
		return false
	case errors.As(err, &refused):
		return refused.Err != nil // otherwise the API server was not asked
	}
	return true
}

// Unrenderable reports whether the chart cannot be rendered for a spec and its defaults, whatever the state of the cluster.
func Unrenderable(err error) bool {
	var ofSpec *render.InvalidSpecError
	var ofChart *render.ChartError
	var failed *RenderError
	var ofDefaults *defaults.Error
	return errors.As(err, &ofDefaults) || // whatever they run into
		!Awaited(err) && (extent.Is(err) || errors.As(err, &ofSpec) || errors.As(err, &ofChart) || errors.As(err, &failed))
}

// Awaited reports whether a change of a watched object ends the error, and trying costs nothing.
func Awaited(err error) bool {
	var missing *dependency.MissingError
	var unserved *render.UnservedError
	var conflict *hosts.ConflictError
	var insecure *postrender.PodSecurityError
	var disallowed *policy.Error
	var earlier *release.EarlierRunError
	var previous *release.PreviousError
	return errors.As(err, &previous) || errors.As(err, &earlier) || errors.As(err, &missing) || errors.As(err, &unserved) || errors.As(err, &conflict) || errors.As(err, &insecure) || errors.As(err, &disallowed)
}
