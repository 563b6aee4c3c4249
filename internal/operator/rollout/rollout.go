package rollout

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// Rollout is the change of one resource that its user did not ask for, from before its first object is written until it
// is over. It is stored as the value of the label v1.LabelRollout of the newest release record.
type Rollout struct {
	// of identifies what the resource is rendered with, generation its spec: with others, it is another rollout, or its
	// user's.
	of         string
	generation int64
	// Since is when it began, or when it was last found to continue.
	Since time.Time
	// before is how many replicas were available before, fresh how many of the new revision at Since.
	before, fresh int32
}

// timeFormat is one that a label can have.
const timeFormat = "20060102T150405Z"

// mostCounted is the largest number of replicas that a label has room for.
const mostCounted = 9_999

// Begin returns the rollout of a resource that begins now.
func (a Basis) Begin(generation int64, now time.Time, replicas health.Replicas) Rollout {
	return Rollout{of: a.ID(), generation: generation, Since: now, before: min(replicas.Available, mostCounted)}
}

// String returns the value of the label. Labels of earlier operators have two parts.
func (r Rollout) String() string {
	return fmt.Sprintf("%s.%d.%s.%d.%d", r.of, r.generation, r.Since.UTC().Format(timeFormat), r.before, r.fresh)
}

// Begun returns the rollout that has begun for a resource of a generation, according to its newest record; false if
// there is none.
func (a Basis) Begun(record *livestate.Record, generation int64) (Rollout, bool) {
	begun, yes := recordedRollout(record, generation)
	return begun, yes && begun.of == a.ID()
}

// Continues is like Begun for a resource that is rendered as recorded: another operator with the same chart continues
// the rollout that the one before began.
func (a Basis) Continues(record *livestate.Record, generation int64) (Rollout, bool) {
	begun, yes := recordedRollout(record, generation)
	return begun, yes && record.ChartDigest == a.Chart.Digest
}

// Takes returns a rollout that continues as one of this chart, operator and defaults.
func (a Basis) Takes(former Rollout) Rollout {
	former.of = a.ID()
	return former
}

// recordedRollout returns the rollout that the record of a resource of a generation has; false if it has none.
func recordedRollout(record *livestate.Record, generation int64) (Rollout, bool) {
	if record == nil {
		return Rollout{}, false
	}
	parts := strings.Split(record.Rollout, ".")
	if len(parts) != 5 || parts[1] != strconv.FormatInt(generation, 10) {
		return Rollout{}, false
	}
	since, err := time.Parse(timeFormat, parts[2])
	before, _ := strconv.ParseInt(parts[3], 10, 32)
	fresh, _ := strconv.ParseInt(parts[4], 10, 32)
	return Rollout{of: parts[0], generation: generation, Since: since, before: int32(before), fresh: int32(fresh)},
		err == nil
}

// State is the state of a rollout.
type State int

const (
	// Over means that as many replicas are available as before.
	Over State = iota
	// Moving means that its deadline has not passed.
	Moving
	// Failed means that its deadline has passed, and no further replica became available.
	Failed
)

// Judge returns the state of a rollout, and the rollout with its clock restarted if another replica became available.
func (r Rollout) Judge(recorded bool, replicas health.Replicas, now time.Time,
	deadline time.Duration) (Rollout, State) {
	fresh := min(replicas.New, mostCounted)
	late := !now.Before(r.Since.Add(deadline)) || now.Add(deadline).Before(r.Since) // nobody begins in the future
	switch {
	case !recorded || !replicas.Noticed:
		fresh = 0
	case replicas.New >= min(r.before, replicas.Desired):
		return r, Over
	}
	switch {
	case !late:
		return r, Moving
	case fresh > r.fresh:
		r.Since, r.fresh = now, fresh
		return r, Moving
	}
	return r, Failed
}
