package fleet

// Verdict says how far a chart may go.
type Verdict string

const (
	// Trying means that not all resources were rendered with it yet.
	Trying Verdict = "Trying"
	// Open means that it may go on to all resources for which it can be rendered.
	Open Verdict = "Open"
	// Refused means that it cannot be rendered for some resources that an earlier chart was rendered for.
	Refused Verdict = "Refused"
	// Halted means that too many of the resources that it changed do not become ready.
	Halted Verdict = "Halted"
)

// Facts are what a verdict is based on.
type Facts struct {
	// Awaited are the resources that were not rendered with the chart yet.
	Awaited int
	// Unfit are those that it cannot be rendered for.
	Unfit int
	// Failed are those that it changed and that do not become ready.
	Failed int
	// MaxFailed is how many of them are tolerated.
	MaxFailed int
	// Asked says that going on with this chart was requested, whatever happens.
	Asked bool
	// Before is the previous verdict.
	Before Verdict
}

// Judge returns how far a chart may go. If it was halted, it goes on when all are ready again, not when a few are: crashing pods are
// ready in between.
func Judge(f Facts) Verdict {
	switch {
	case f.Awaited > 0:
		return Trying
	case f.Asked:
		return Open
	case f.Unfit > 0:
		return Refused
	case f.Failed > f.MaxFailed, f.Before == Halted && f.Failed > 0:
		return Halted
	}
	return Open
}
