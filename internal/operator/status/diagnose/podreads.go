package diagnose

import (
	"encoding/json"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Pods are read on demand: not at all while a workload is as desired or makes progress, then at growing intervals.
const (
	// patience is how long a workload may make no progress, and patienceAtMost how long it may be progressing, before its
	// pods are read.
	patience, patienceAtMost = 3 * time.Second, 10 * time.Second
	// closest is the minimum time between a look and one that is brought forward.
	closest = 5 * time.Second
	// knownFirst and knownLater are the intervals of looks at a cause that is known to last, early and later on.
	knownFirst, knownLater = 20 * time.Second, time.Minute
	// searching and searchingLater are the intervals for any other workload.
	searching, searchingLater = 10 * time.Second, 30 * time.Second
	// finished is the interval for a workload that has failed permanently, once all caches must show that.
	finished = time.Hour
	// LookRetry is the delay after a look that exceeded the rate limit.
	LookRetry = time.Second
)

// PodReads is the schedule of looks at the pods of a workload that is not as desired, and what the last one found.
type PodReads struct {
	// Causes that the last look found; before the first look, those that need none.
	Causes []Cause

	subject  subject
	over     bool // it has failed permanently
	refused  bool // its pods are, for a cause that may become another one unseen
	progress Counts
	since    time.Time // when it was first seen to be not as desired
	looked   time.Time // zero before the first look
	count    int
	next     time.Time // of the next look
}

// subject identifies the subject of a diagnosis: another pod template is another one.
type subject struct {
	uid      types.UID
	template uint64
}

// Follow returns the schedule for a workload that is not as desired: the known one if the subject is the same, else a
// new one. Known is nil if there is none; atOnce requests the first look of a new one now.
func Follow(known *PodReads, workload *Workload, now time.Time, atOnce bool) *PodReads {
	about := subjectOf(workload)
	if known == nil || known.subject != about {
		known = &PodReads{subject: about, since: now, next: now.Add(patience)}
		if atOnce {
			known.next = now
		}
	}
	known.over, known.refused = workload.Over, workload.Refused
	known.saw(now, workload.Counts)
	return known
}

// Due reports whether it is time to look.
func (l *PodReads) Due(now time.Time) bool { return !now.Before(l.next) }

// Looked reports whether there was a look already.
func (l *PodReads) Looked() bool { return l != nil && !l.looked.IsZero() }

// Postpone delays a look that exceeded the rate limit.
func (l *PodReads) Postpone(now time.Time) { l.next = now.Add(LookRetry) }

// Wait returns the time until the next look.
func (l *PodReads) Wait(now time.Time) time.Duration {
	return max(time.Millisecond, l.next.Sub(now))
}

// saw records the progress of the workload. Before the first look, progress delays it; later, it brings the next one
// forward.
func (l *PodReads) saw(now time.Time, at Counts) {
	if at == l.progress {
		return
	}
	first := l.progress == Counts{}
	l.progress = at
	switch {
	case first:
	case l.looked.IsZero():
		if put := earlier(now.Add(patience), l.since.Add(patienceAtMost)); put.After(l.next) {
			l.next = put
		}
	default:
		l.next = earlier(l.next, later(now, l.looked.Add(closest)))
	}
}

// Done records a look, even one that failed and returned the known causes, and schedules the next.
func (l *PodReads) Done(now time.Time, found []Cause) {
	l.Causes, l.looked = found, now
	l.count++
	lasting := len(found) > 0 && found[0].Effect == Lasting
	after := searching
	switch {
	case l.over && l.count > 3:
		after = finished
	case l.refused && l.count <= 12:
		after = closest
	case l.refused && l.count <= 60: // controllers try again after 17 minutes at most
		after = knownFirst
	case lasting && l.count > 10:
		after = knownLater
	case lasting:
		after = knownFirst
	case l.count > 12:
		after = searchingLater
	case l.count == 1:
		after = patience
	case l.count == 2:
		after = closest
	}
	l.next = now.Add(after)
	for _, cause := range found {
		if cause.Effect == Passing && !cause.Until.IsZero() {
			l.next = earlier(l.next, later(cause.Until, now.Add(LookRetry)))
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func subjectOf(workload *Workload) subject {
	sum := fnv.New64a()
	_ = json.NewEncoder(sum).Encode(workload.Template) // neither can fail
	return subject{workload.UID, sum.Sum64()}
}
