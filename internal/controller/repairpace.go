package retry

import "time"

// The time between repairs of a field that another writer changes each time: the first two are made at once, the next ones after
// Contested, which doubles to LastContested.
const (
	Contested     = 10 * time.Second
	LastContested = 5 * time.Minute
	// uncontested is how long a field has to stay as it was repaired, besides that time, to be repaired at once again.
	uncontested = time.Minute
	atOnce      = 2
)

// Contest counts the repairs of one field. The zero value has none.
type Contest struct {
	repairs int
	last    time.Time
}

// Every returns the time between repairs; 0 if the next one may be made at once.
func (c Contest) Every() time.Duration {
	switch doubled := c.repairs - atOnce; {
	case doubled < 0:
		return 0
	case doubled < 5:
		return Contested << doubled
	}
	return LastContested
}

// Wait returns the time until the field may be repaired again.
func (c Contest) Wait(now time.Time) time.Duration {
	return max(0, c.last.Add(c.Every()).Sub(now))
}

// Over reports whether nobody else has changed the field for long.
func (c Contest) Over(now time.Time) bool { return now.Sub(c.last) > c.Every()+uncontested }

// Repaired counts a repair.
func (c *Contest) Repaired(now time.Time) {
	if c.Over(now) {
		c.repairs = 0
	}
	c.repairs, c.last = c.repairs+1, now
}
