package controller

import "time"

const (
	// noticeDelay is how long the status waits for the Deployment controller to observe a release: one that is written
	// before that is written again moments later.
	noticeDelay = time.Second
	// noticePatience is how long it waits while users wait for their changes, which the API server does first.
	noticePatience = 5 * time.Second
)

// notice is a release whose status is not written yet. The zero value is none.
type notice struct {
	since time.Time
}

// Wait returns how long the status of a release that was not observed yet may still wait; 0 if it may not. Released
// says that this reconcile has written it.
func (n *notice) Wait(now time.Time, released, usersWait bool) time.Duration {
	if released && n.since.IsZero() {
		n.since = now // of several releases the first counts, so that a status is not put off again and again
	}
	patience := noticeDelay
	if usersWait {
		patience = noticePatience
	}
	if n.since.IsZero() {
		return 0
	}
	return min(noticeDelay, max(0, n.since.Add(patience).Sub(now)))
}
