package rollout

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/example/appservice-operator/internal/engine/text"
)

// Rollouts is the line of the resources of one kind whose pods would restart although their users changed nothing. It
// bounds how many of them do so at a time, and halts if too many fail. It is safe for concurrent use; no call takes
// longer if more of them wait.
//
// It is rebuilt after a restart from the labels of the release records: no rollout begins before each resource was
// reconciled once.
type Rollouts struct {
	// Limit is how many places there are.
	Limit int
	// MaxFailed is how many resources may fail before the line halts.
	MaxFailed int
	// Deadline is how long a resource has a place.
	Deadline time.Duration
	// Chart returns the chart in use. Another one begins without failures.
	Chart func() Chart
	// Names lists all resources.
	Names func() ([]types.NamespacedName, error)
	// Show publishes the progress; nil if it is not published.
	Show  func(Progress)
	Clock clock.PassiveClock
	Log   logr.Logger

	mu        sync.Mutex
	queue     rolloutQueue
	chart     string // id of the one that the failures are of
	requested string
	allowed   bool                          // requested names the chart
	unseen    map[types.NamespacedName]bool // since the start; nil if they are not listed yet
	places    map[types.NamespacedName]time.Time
	waiting   map[types.NamespacedName]*list.Element // of the lines of namespaces
	failed    map[types.NamespacedName]bool
	failures  map[string]int // by namespace
	halted    string         // why nobody may begin; empty if that is not so
	lines     map[string]*line
	turns     list.List // of the lines in which resources wait that may begin, the next one first
}

type rolloutQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// line is the part of a namespace.
type line struct {
	places  int
	waiting list.List // of names, the first one first
	turn    *list.Element
	halted  string
}

// Progress is the progress of a rollout in numbers of resources.
type Progress struct {
	// Waiting for their turn; Held is the number of those that wait because the line is halted.
	Waiting, Held int
	// Failed: too few replicas became available before the deadline, or the chart cannot be rendered for them.
	Failed int
}

// Begin reports whether a resource may begin, and then has a place. Otherwise it waits in line, and is reconciled when
// it may.
func (r *Rollouts) Begin(name types.NamespacedName) bool {
	defer r.change(name)()
	r.well(name)
	if _, holds := r.places[name]; !holds && r.waiting[name] == nil {
		r.waiting[name] = r.of(name).waiting.PushBack(name)
		r.line(name.Namespace)
		r.advance(name)
	}
	_, holds := r.places[name]
	return holds
}

// Resume gives a place to a resource that has begun, even if none is free, unless its deadline has passed.
func (r *Rollouts) Resume(name types.NamespacedName, since time.Time) {
	defer r.change(name)()
	if !r.Clock.Now().Before(since.Add(r.Deadline)) {
		return
	}
	r.well(name)
	r.leave(name)
	if _, holds := r.places[name]; !holds {
		r.take(name, since.Add(r.Deadline))
	}
}

// End removes a resource: it has succeeded, or does not have to begin.
func (r *Rollouts) End(name types.NamespacedName) {
	defer r.change(name)()
	r.well(name)
	r.leave(name)
	r.giveBack(name)
}

// Fail counts a resource as failed.
func (r *Rollouts) Fail(name types.NamespacedName) {
	defer r.change(name)()
	r.fail(name)
}

func (r *Rollouts) fail(name types.NamespacedName) {
	if !r.failed[name] {
		r.failed[name] = true
		r.failures[name.Namespace]++
		r.of(name)
		r.reconsiderHalt(name.Namespace)
	}
	r.leave(name)
	r.giveBack(name)
}

// Looked records that a resource was looked at: if it has begun, that is known. It fails at its deadline, whatever kept
// it from being judged.
func (r *Rollouts) Looked(name types.NamespacedName) {
	defer r.change(name)()
	delete(r.unseen, name)
	if until, holds := r.places[name]; holds && !r.Clock.Now().Before(until) {
		r.fail(name)
	}
}

// Forget drops a resource that no longer exists.
func (r *Rollouts) Forget(name types.NamespacedName) {
	r.End(name)
	r.Looked(name)
}

// Wake returns the source of requests for resources that may begin, or that have a new reason why they may not.
func (r *Rollouts) Wake() source.Source {
	return source.Func(func(_ context.Context, queue rolloutQueue) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = queue
		return nil
	})
}

// change begins a change that a resource causes, and returns what ends it.
func (r *Rollouts) change(name types.NamespacedName) (end func()) {
	r.mu.Lock()
	r.listNames()
	if now := r.Chart(); now.id() != r.chart {
		r.chart, r.allowed = now.id(), now.named(r.requested)
		clear(r.failed)
		clear(r.failures)
		r.reconsiderHalts()
	}
	return func() {
		defer r.mu.Unlock()
		r.advance(name)
		r.line(name.Namespace)
		r.show()
	}
}

// listNames lists once what has to be looked at before anyone begins.
func (r *Rollouts) listNames() {
	if r.unseen != nil {
		return
	}
	if r.lines == nil {
		r.places, r.waiting = map[types.NamespacedName]time.Time{}, map[types.NamespacedName]*list.Element{}
		r.failed, r.failures, r.lines = map[types.NamespacedName]bool{}, map[string]int{}, map[string]*line{}
	}
	names, err := r.Names()
	if err != nil {
		r.Log.Error(err, "cannot list the resources that a new chart is for")
		return
	}
	r.unseen = make(map[types.NamespacedName]bool, len(names))
	for _, name := range names {
		r.unseen[name] = true
	}
}

func (r *Rollouts) of(name types.NamespacedName) *line {
	of := r.lines[name.Namespace]
	if of == nil {
		of = &line{}
		r.lines[name.Namespace] = of
	}
	return of
}

// line updates whether a namespace is among those that take turns, and drops one without resources here.
func (r *Rollouts) line(namespace string) {
	of := r.lines[namespace]
	if of == nil {
		return
	}
	switch may := of.waiting.Len() > 0 && of.halted == ""; {
	case may && of.turn == nil:
		of.turn = r.turns.PushBack(of)
	case !may && of.turn != nil:
		r.turns.Remove(of.turn)
		of.turn = nil
	}
	if of.places+of.waiting.Len()+r.failures[namespace] == 0 {
		delete(r.lines, namespace)
	}
}

// advance gives free places to those whose turn it is, and has them reconciled, except for one that is being
// reconciled.
func (r *Rollouts) advance(current types.NamespacedName) {
	for len(r.places) < r.Limit && r.unseen != nil && len(r.unseen) == 0 && r.halted == "" {
		of := r.next()
		if of == nil {
			return
		}
		name, _ := of.waiting.Front().Value.(types.NamespacedName)
		r.leave(name)
		r.take(name, r.Clock.Now().Add(r.Deadline))
		r.line(name.Namespace)
		if name != current {
			r.wake(name)
		}
	}
}

// next returns the line whose turn it is; nil if there is none. While several namespaces wait, each may have a quarter
// of the places: few of them have as many.
func (r *Rollouts) next() *line {
	share := r.Limit
	if r.turns.Len() > 1 {
		share = max(1, r.Limit/4)
	}
	for at := r.turns.Front(); at != nil; at = at.Next() {
		if of, _ := at.Value.(*line); of.places < share {
			r.turns.MoveToBack(at)
			return of
		}
	}
	return nil
}

// well drops the failure of a resource.
func (r *Rollouts) well(name types.NamespacedName) {
	if !r.failed[name] {
		return
	}
	delete(r.failed, name)
	if r.failures[name.Namespace]--; r.failures[name.Namespace] == 0 {
		delete(r.failures, name.Namespace)
	}
	r.reconsiderHalt(name.Namespace)
}

// leave takes a resource out of the line.
func (r *Rollouts) leave(name types.NamespacedName) {
	if at := r.waiting[name]; at != nil {
		r.of(name).waiting.Remove(at)
		delete(r.waiting, name)
	}
}

func (r *Rollouts) take(name types.NamespacedName, until time.Time) {
	r.places[name] = until
	r.of(name).places++
}

func (r *Rollouts) giveBack(name types.NamespacedName) {
	if _, holds := r.places[name]; holds {
		delete(r.places, name)
		r.of(name).places--
	}
}

func (r *Rollouts) reconsiderHalts() {
	for namespace := range r.lines {
		r.reconsiderHalt(namespace)
	}
}

// reconsiderHalt halts a namespace, and all of them, if too many have failed there, until all of those are well again.
// The failures of one namespace halt no other one.
func (r *Rollouts) reconsiderHalt(namespace string) {
	failures := r.failures[namespace]
	all := !r.allowed && len(r.failures) > 1 && (len(r.failed) > r.MaxFailed || r.halted != "")
	if all != (r.halted != "") {
		r.halted = r.noteHalt(all, "")
		for _, of := range r.lines {
			r.wakeAll(of)
		}
	}
	of := r.lines[namespace]
	if of == nil {
		return
	}
	here := !r.allowed && (failures > r.MaxFailed || of.halted != "" && failures > 0)
	if here != (of.halted != "") {
		of.halted = r.noteHalt(here, namespace)
		r.line(namespace)
		r.wakeAll(of)
	}
}

// noteHalt logs that a namespace, or all of them, are halted or continue, and returns why they are halted.
func (r *Rollouts) noteHalt(halt bool, namespace string) (why string) {
	chart := r.Chart()
	log := r.Log.WithValues("chart", chart.Name, "version", chart.Version, "digest", chart.Digest, "namespace",
		cmp.Or(namespace, "all"))
	if !halt {
		log.Info("chart continues")
		return ""
	}
	var names []string
	for name := range r.failed {
		if namespace == "" || name.Namespace == namespace {
			names = append(names, name.String())
		}
	}
	slices.Sort(names)
	log.Info("chart halted: too many resources failed with it", "resources", text.Some(names, named))
	return fmt.Sprintf("is halted: %s failed with it", text.Some(names, named))
}

func (r *Rollouts) show() {
	if r.Show == nil {
		return
	}
	progress := Progress{Failed: len(r.failed)}
	switch {
	case r.halted != "":
		progress.Held = len(r.waiting)
	case !r.allowed: // few have failed, or only in one namespace
		for namespace := range r.failures {
			if of := r.lines[namespace]; of != nil && of.halted != "" {
				progress.Held += of.waiting.Len()
			}
		}
	}
	progress.Waiting = len(r.waiting) - progress.Held
	r.Show(progress)
}

func (r *Rollouts) wakeAll(of *line) {
	for at := of.waiting.Front(); at != nil; at = at.Next() {
		name, _ := at.Value.(types.NamespacedName)
		r.wake(name)
	}
}

func (r *Rollouts) wake(name types.NamespacedName) {
	if r.queue != nil {
		r.queue.Add(reconcile.Request{NamespacedName: name})
	}
}

// named is how many resources a message names.
const named = 3
