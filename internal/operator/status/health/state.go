package health

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Verdict is the readiness of an object.
type Verdict int

const (
	// Ready objects do what they are for, or do not report whether they do.
	Ready Verdict = iota
	// Warned objects are ready, with a warning.
	Warned
	// Waiting objects may become ready without help.
	Waiting
	// Stuck objects become ready only with help.
	Stuck
)

// State is the readiness of an object, and the reason.
type State struct {
	Verdict Verdict
	// Reason is one of the constants of the API; empty if there is nothing special to say.
	Reason string
	// Message is one line: what is wrong, in the words of the best source, or the progress of a workload.
	Message string
	// Hint says what to do; often empty.
	Hint string
	// Until is when the state has to be judged again although nothing changes; zero if there is no such time.
	Until time.Time
}

// Facts are what an object does not contain itself.
type Facts struct {
	Now time.Time
	// Since is when the newest release was recorded; zero if there is none: new objects have some time to become ready.
	Since time.Time
	// Missing are the objects that something rendered refers to and that do not exist, with the names of those that do.
	Missing map[reference.Object][]string
	// Gateways are the Gateways that routes attach to, as far as they are known.
	Gateways gateway.Gateways
	// Live are the objects that were rendered together, as far as they exist.
	Live map[kube.Key]client.Object
}

// Holds reports whether an object keeps its resource from being ready.
func (s State) Holds() bool { return s.Verdict >= Waiting }

// overdue makes a state stuck that should have passed after some time. The time begins when the object was
// last created or released.
func (s State) overdue(object client.Object, facts Facts, patience time.Duration) State {
	since := object.GetCreationTimestamp().Time
	if facts.Since.After(since) {
		since = facts.Since
	}
	if until := since.Add(patience); facts.Now.Before(until) {
		s.Verdict, s.Until = Waiting, until
	} else {
		s.Verdict = Stuck
	}
	return s
}
