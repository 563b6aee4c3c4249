// Package retry owns when a failed reconcile is tried again.
package retry

import "time"

// The time between attempts of a failing reconcile: it doubles from First to Last. A change of a watched object brings
// the next attempt forward, but never closer to the previous one than First.
const (
	First = 5 * time.Second
	Last  = 2 * time.Minute
	// Cheap replaces First after an attempt that wrote nothing.
	Cheap = time.Second
	// Stale is the delay after a reconcile for which the caches were stale.
	Stale = 250 * time.Millisecond
	// stalePatience is how long that delay is used before the status reports what it waits for.
	stalePatience = 2 * time.Second
	// Notice is how long the status may wait for the Deployment controller to observe a release.
	Notice = time.Second
)

// Backoff counts the failed attempts at one version. The zero value has none.
type Backoff[Version comparable] struct {
	version  Version
	attempts int
	stale    time.Time // of the first attempt that the caches were too old for
	last     time.Time
	until    time.Time
	closest  time.Duration // between this attempt and the next
}

// Wait returns the time until the next attempt, requested by an expired timer or by a change. A new version is tried
// at once.
func (b *Backoff[Version]) Wait(now time.Time, version Version) time.Duration {
	if b.version != version || b.attempts == 0 || !now.Before(b.until) {
		return 0
	}
	b.until = b.last.Add(b.closest)
	return max(0, b.until.Sub(now))
}

// MayPass records an attempt with stale caches, and reports whether they may still catch up within moments.
func (b *Backoff[Version]) MayPass(now time.Time) bool {
	if b.stale.IsZero() {
		b.stale = now
	}
	return now.Sub(b.stale) < stalePatience
}

// Again records a failed attempt, cheap if it wrote nothing, and returns the time until the next one.
func (b *Backoff[Version]) Again(now time.Time, version Version, cheap bool) time.Duration {
	if b.version != version {
		*b = Backoff[Version]{version: version, stale: b.stale}
	}
	delay := b.Next(version)
	b.attempts++
	b.last, b.until, b.closest = now, now.Add(delay), First
	if cheap {
		b.closest = Cheap
	}
	return delay
}

// Next returns the time until the next attempt if the current one fails.
func (b *Backoff[Version]) Next(version Version) time.Duration {
	switch {
	case b.version != version:
		return First
	case b.attempts < 10:
		return min(Last, First<<b.attempts)
	}
	return Last
}

// Failed reports whether an attempt has failed at the version that was tried last.
func (b *Backoff[Version]) Failed() bool { return b.attempts > 0 }
