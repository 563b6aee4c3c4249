package controller

import "time"

// The time between repairs of a field that another writer changes each time: the first two are made at once, the next
// ones after contestedDelay, which doubles to lastContestedDelay.
const (
	contestedDelay     = 10 * time.Second
	lastContestedDelay = 5 * time.Minute
	// uncontested is how long a field has to stay as it was repaired, besides that time, to be repaired at once again.
	uncontested = time.Minute
	atOnce      = 2
)

// repairPace counts the repairs of one field. The zero value has none.
type repairPace struct {
	repairs int
	last    time.Time
}

// Every returns the time between repairs; 0 if the next one may be made at once.
func (c repairPace) Every() time.Duration {
	switch doubled := c.repairs - atOnce; {
	case doubled < 0:
		return 0
	case doubled < 5:
		return contestedDelay << doubled
	}
	return lastContestedDelay
}

// Wait returns the time until the field may be repaired again.
func (c repairPace) Wait(now time.Time) time.Duration {
	return max(0, c.last.Add(c.Every()).Sub(now))
}

// Over reports whether nobody else has changed the field for long.
func (c repairPace) Over(now time.Time) bool { return now.Sub(c.last) > c.Every()+uncontested }

// Repaired counts a repair.
func (c *repairPace) Repaired(now time.Time) {
	if c.Over(now) {
		c.repairs = 0
	}
	c.repairs, c.last = c.repairs+1, now
}
