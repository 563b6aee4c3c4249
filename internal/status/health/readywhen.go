package health

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube/readywhen"
)

// annotated returns the state that the annotations of an object set, if any: then no other rule applies.
func annotated(object client.Object) (State, bool) {
	found, applies := readywhen.Of(object)
	switch {
	case !applies:
		return State{}, false
	case found.Ready:
		return State{}, true
	case found.Fault:
		return State{Verdict: Stuck, Message: found.Message, Hint: "ask the chart's maintainers: the annotation is part of the chart"}, true
	}
	return State{Verdict: Waiting, Message: found.Message}, true
}
