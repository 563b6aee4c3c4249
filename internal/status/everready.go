package status

import (
	"github.com/example/appservice-operator/internal/hosts"
)

// neverReady reports whether the application was never ready. If an earlier operator did not record that, it counts as ready once.
func neverReady(in Input, list []standing) bool {
	isNew := len(in.Previous.Conditions) == 0
	return (isNew || in.Previous.NeverReady) && !answers(in, list)
}

// answers reports whether the application can answer requests: whether a pod of the main workload is ready, or, if there is none,
// all objects except routes, which may be waiting for just that.
func answers(in Input, list []standing) bool {
	if mainObject(in.Resource, in.Snapshot) != nil {
		return reachOf(in).serving()
	}
	for _, one := range list {
		if one.Holds() && !hosts.Routes(one.key.GroupKind) {
			return false
		}
	}
	return len(list) > 0
}
