package controller

import (
	"cmp"
	"time"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// attempt is the attempt of one reconcile to bring a resource to its rendered state: what each step found, did, or
// failed at.
type attempt struct {
	// state of the release that was found; empty if nothing was decided.
	state plan.State
	// plan that was carried out; nil if nothing was decided.
	plan *plan.Plan
	// changes is a summary of the changes in words.
	changes string
	// observed is the state of the cluster after this attempt.
	observed *livestate.Snapshot
	// resumed says that objects of the recorded release were written that another one had applied since.
	resumed bool
	// hold says why the recorded release is kept for now; the zero value if it is not.
	hold hold
	// contended says that something is not repaired for now, because another writer changes it each time, or because its
	// values are lost; nil if there is nothing.
	contended error
	// decayed says why the recorded release is not kept as it is; nil if it is, or if that holds back what waits.
	decayed error
	// reload is the time until changed content restarts the pods of a resource that waits; 0 if it has.
	reload time.Duration
	took   time.Duration
	// err says why the objects are not as rendered.
	err error
}

// acted reports whether anything had to be written.
func (a attempt) acted() bool { return a.state != "" && a.state != plan.InSync && !a.waits() }

// released reports whether a new release was made.
func (a attempt) released() bool {
	return !a.waits() && (a.state == plan.Absent || a.state == plan.OutOfDate)
}

// decays returns the attempt without the error of keeping the recorded release, if its stage `before` runs: the release
// that waits is about to replace that one.
func (a attempt) decays() attempt {
	if a.hold.by == byStage && a.err != nil && isBlocked(a.err) {
		a.decayed, a.err = cmp.Or(a.decayed, a.err), nil
	}
	return a
}

// hold says why the rendered release is not written, or only its stage `before`. The recorded one is kept meanwhile.
type hold struct {
	by holder
	// err says what failed, by failure or return.
	err error
	// keys of the objects of the stage `before`, and of those that it needs.
	before, early []kube.Key
}

// holder is what holds a release back.
type holder int

// The causes for which a release is held back; the zero value is none.
const (
	_         holder = iota
	byStage          // its stage `before` is not ready
	byLine           // it waits in the line of rollouts
	byFailure        // a new chart, or new defaults, cannot be rendered for the resource, or failed
	byReturn         // it failed, and an earlier release was applied again because its user asked for that
)

// waits reports whether the resource keeps the recorded release for now.
func (a attempt) waits() bool { return a.hold.by != 0 }

// keepsRelease reports whether no rendered object may be written.
func (a attempt) keepsRelease() bool { return a.hold.by == byFailure || a.hold.by == byReturn }
