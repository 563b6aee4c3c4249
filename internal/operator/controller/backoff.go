package controller

import "time"

// The time between attempts of a failing reconcile: it doubles from firstRetry to LastRetry. A change of a watched
// object brings the next attempt forward, but never closer to the previous one than firstRetry.
const (
	firstRetry = 5 * time.Second
	LastRetry  = 2 * time.Minute
	// cheapRetry replaces firstRetry after an attempt that wrote nothing.
	cheapRetry = time.Second
	// staleRetry is the delay after a reconcile for which the caches were stale.
	staleRetry = 250 * time.Millisecond
	// stalePatience is how long that delay is used before the status reports what it waits for.
	stalePatience = 2 * time.Second
)

// backoff decides when a failed reconcile is tried again. It counts the failed attempts at one version. The zero value
// has none.
type backoff[Version comparable] struct {
	version  Version
	attempts int
	stale    time.Time // of the first attempt that the caches were too old for
	last     time.Time
	until    time.Time
	closest  time.Duration // between this attempt and the next
}

// Wait returns the time until the next attempt, requested by an expired timer or by a change. A new version is tried
// at once.
func (b *backoff[Version]) Wait(now time.Time, version Version) time.Duration {
	if b.version != version || b.attempts == 0 || !now.Before(b.until) {
		return 0
	}
	b.until = b.last.Add(b.closest)
	return max(0, b.until.Sub(now))
}

// MayPass records an attempt with stale caches, and reports whether they may still catch up within moments.
func (b *backoff[Version]) MayPass(now time.Time) bool {
	if b.stale.IsZero() {
		b.stale = now
	}
	return now.Sub(b.stale) < stalePatience
}

// Again records a failed attempt, cheap if it wrote nothing, and returns the time until the next one.
func (b *backoff[Version]) Again(now time.Time, version Version, cheap bool) time.Duration {
	if b.version != version {
		*b = backoff[Version]{version: version, stale: b.stale}
	}
	delay := b.Next(version)
	b.attempts++
	b.last, b.until, b.closest = now, now.Add(delay), firstRetry
	if cheap {
		b.closest = cheapRetry
	}
	return delay
}

// Next returns the time until the next attempt if the current one fails.
func (b *backoff[Version]) Next(version Version) time.Duration {
	switch {
	case b.version != version:
		return firstRetry
	case b.attempts < 10:
		return min(LastRetry, firstRetry<<b.attempts)
	}
	return LastRetry
}

// Failed reports whether an attempt has failed at the version that was tried last.
func (b *backoff[Version]) Failed() bool { return b.attempts > 0 }
