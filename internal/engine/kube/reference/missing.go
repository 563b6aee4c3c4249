package reference

import (
	"fmt"
	"slices"

	v1 "github.com/example/appservice-operator/api/v1"
)

// MissingError reports that something is missing without which no pod can start.
type MissingError struct{ Reference }

func (e *MissingError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("%s has no key %q, which %s needs", e.Object, e.Key, e.By)
	}
	return fmt.Sprintf("%s does not exist, %s needs it", e.Object, e.By)
}

// Reason returns the reason of Ready.
func (e *MissingError) Reason() string { return v1.ReasonDependencyMissing }

// Missing returns the references that are not optional and whose object or key is missing. If a whole object is
// missing, the references to its keys come without the key. An object without a known state counts as existing.
func Missing(references []Reference, states map[Object]State) []Reference {
	var list []Reference
	for _, reference := range references {
		state, told := states[reference.Object]
		if !told || reference.Need == Optional {
			continue
		}
		if _, found := state.Data[reference.Key]; state.Found && (reference.Key == "" || found) {
			continue
		}
		if !state.Found {
			reference.Key = ""
		}
		list = append(list, reference)
	}
	return slices.CompactFunc(list, func(a, b Reference) bool { return a.Object == b.Object && a.Key == b.Key })
}
