// Package problem puts errors into the words of the API, and says what may end them.
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

// reasoned is an error that has a reason of its own in the API: nothing moves without help.
type reasoned interface {
	error
	Reason() string
}

// hinted is an error that knows better than its reason what helps.
type hinted interface {
	error
	Hint() string
}

// parted is an error that sums up several.
type parted interface {
	error
	Parts() []string
}

// RenderError says that the chart cannot be rendered.
type RenderError struct{ Err error }

func (e *RenderError) Error() string { return e.Err.Error() }
func (e *RenderError) Unwrap() error { return e.Err }

// Reason is that of Ready.
func (e *RenderError) Reason() string { return v1.ReasonRenderFailed }

// RenderFailed makes a RenderError of an error that has no reason of its own.
func RenderFailed(err error) error {
	var known reasoned
	if errors.As(err, &known) {
		return err
	}
	return &RenderError{err}
}

// DecayingError says that a release is refused and the recorded one cannot be kept alive either.
type DecayingError struct{ Refusal, Err error }

func (e *DecayingError) Error() string {
	return fmt.Sprintf("%v; what runs is not repaired meanwhile: %v", e.Refusal, e.Err)
}
func (e *DecayingError) Unwrap() error { return e.Refusal }

// Of says in the words of the API what keeps the objects from being as rendered, be it an error or that some of a plan are still to go;
// nil if nothing does. Failure is the reason if the error has none of its own.
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

// words are those of the error that has a reason, and of what else went wrong because of it.
func words(err error, known reasoned) string {
	var decaying *DecayingError
	if errors.As(err, &decaying) {
		return (&DecayingError{known, decaying.Err}).Error()
	}
	return known.Error()
}

// parts are what an error sums up; nil if that is all.
func parts(err error) []string {
	var known parted
	if errors.As(err, &known) {
		return known.Parts()
	}
	return nil
}

// hint is what helps against an error; empty if it does not know.
func hint(err error) string {
	var known hinted
	if errors.As(err, &known) {
		return known.Hint()
	}
	return ""
}

// Stale reports whether the caches were too old to go on: trying again is all that it takes.
func Stale(err error) bool {
	var stale *release.StaleError
	return errors.As(err, &stale) || apierrors.IsConflict(err)
}

// Blocked reports whether nothing moves without help.
func Blocked(err error) bool {
	var known reasoned
	var mistake *render.ChartError
	return errors.As(err, &known) || errors.As(err, &mistake) || release.Refused(err)
}

// Retried reports whether the next attempt is all that may end the error: nothing that is watched does, and neither spec nor chart is at
// fault.
func Retried(err error) bool {
	var decaying *DecayingError
	var previous *release.PreviousError
	var ofSpec *render.InvalidSpecError
	var ofChart *render.ChartError
	var unrendered *RenderError
	var unfit *defaults.Error
	var refused *release.RefusedError
	switch {
	case err == nil:
		return false
	case errors.As(err, &decaying):
		return true // what runs is repaired then
	case Awaited(err), Stale(err), extent.Is(err), errors.As(err, &previous), errors.As(err, &ofSpec), errors.As(err, &ofChart), errors.As(err, &unrendered), errors.As(err, &unfit):
		return false
	case errors.As(err, &refused):
		return refused.Err != nil // else nobody was asked
	}
	return true
}

// Awaited reports whether a change of something that is watched ends the error, and trying costs nothing.
func Awaited(err error) bool {
	var missing *dependency.MissingError
	var unserved *render.UnservedError
	var conflict *hosts.ConflictError
	var insecure *postrender.PodSecurityError
	var disallowed *policy.Error
	return errors.As(err, &missing) || errors.As(err, &unserved) || errors.As(err, &conflict) || errors.As(err, &insecure) || errors.As(err, &disallowed)
}
