package diagnose

import (
	"cmp"
	"regexp"
	"slices"
)

var numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+`)

// Steady returns the causes with their earlier detail if only numbers in it differ, and keeps causes lasting that
// lasted until now: they are the same, seen at another moment.
func Steady(before, now []Cause) []Cause {
	for i := range now {
		cause := &now[i]
		for _, known := range before {
			if known.Reason != cause.Reason || known.Source != cause.Source {
				continue
			}
			if known.Effect == Lasting && cause.Effect == Passing {
				cause.Effect, cause.Until = Lasting, known.Until
			}
			if numbers.ReplaceAllString(known.Detail, "#") == numbers.ReplaceAllString(cause.Detail, "#") {
				cause.Detail = known.Detail
			}
			break
		}
	}
	order(now)
	return now
}

// order sorts causes by severity, then by how many pods have them.
func order(list []Cause) {
	slices.SortStableFunc(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Effect, a.Effect), cmp.Compare(b.pods, a.pods), cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.Reason, b.Reason))
	})
}
