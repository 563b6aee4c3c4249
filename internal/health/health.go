// Package health says of a live object, whatever its kind, whether it does what it is for. It is pure: it reads no cluster, and the same
// object at the same time gives the same state.
package health

import "time"

// Verdict is how an object stands.
type Verdict int

const (
	// Ready objects do what they are for, or say nothing of it.
	Ready Verdict = iota
	// Waiting objects may become ready by themselves.
	Waiting
	// Stuck objects become ready with help only.
	Stuck
)

// State is how an object stands, and why.
type State struct {
	Verdict Verdict
	// Reason is one of the constants of the API; empty if there is nothing special to say.
	Reason string
	// Message is one line: what is wrong, in the words of whoever knows best. Empty if the object is ready and there is nothing to say.
	Message string
	// Hint says what to do; often empty.
	Hint string
	// Until is when the state has to be judged again although nothing changes; zero if there is no such time.
	Until time.Time
}
