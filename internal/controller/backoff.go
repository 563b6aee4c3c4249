package controller

import "time"

// The time between attempts of a reconcile that fails: it doubles from the first to the last. A change of what is watched
// brings the next attempt forward, but never closer to the one before than the first.
const (
	firstRetry = 5 * time.Second
	lastRetry  = 2 * time.Minute
	// cheapRetry takes the place of firstRetry after an attempt that wrote nothing.
	cheapRetry = time.Second
	// staleRetry is how soon a reconcile is tried again that the caches were too old for.
	staleRetry = 250 * time.Millisecond
	// stalePatience is for how long it is tried again that soon before the status says what it waits for.
	stalePatience = 2 * time.Second
	// previousRetry is how often the objects of an earlier resource of the same name are looked for.
	previousRetry = time.Second
	// noticePatience is how long the status may wait for the Deployment controller to take note of a release.
	noticePatience = time.Second
)

// backoff counts the failed attempts at one generation.
type backoff struct {
	generation int64
	attempts   int
	stale      time.Time // of the first attempt that the caches were too old for
	last       time.Time
	until      time.Time
	closest    time.Duration // between this attempt and the next
}

// wait returns the time until the next attempt, asked for by a timer that is over or by a change. A new generation is tried
// at once.
func (b *backoff) wait(now time.Time, generation int64) time.Duration {
	if b.generation != generation || b.attempts == 0 || !now.Before(b.until) {
		return 0
	}
	b.until = b.last.Add(b.closest)
	return max(0, b.until.Sub(now))
}

// mayPass notes an attempt that the caches were too old for, and reports whether they may still catch up within moments.
func (b *backoff) mayPass(now time.Time) bool {
	if b.stale.IsZero() {
		b.stale = now
	}
	return now.Sub(b.stale) < stalePatience
}

// again notes a failed attempt, cheap if it wrote nothing, and returns the time until the next one.
func (b *backoff) again(now time.Time, generation int64, cheap bool) time.Duration {
	if b.generation != generation {
		*b = backoff{generation: generation, stale: b.stale}
	}
	delay := lastRetry
	if b.attempts < 10 {
		delay = min(lastRetry, firstRetry<<b.attempts)
	}
	b.attempts++
	b.last, b.until, b.closest = now, now.Add(delay), firstRetry
	if cheap {
		b.closest = cheapRetry
	}
	return delay
}
