package status

import (
	"github.com/example/appservice-operator/internal/hosts"
)

// neverReady reports whether the application has yet to be ready for the first time. What an earlier operator left unsaid counts as ready.
func neverReady(in Input, list []standing) bool {
	isNew := len(in.Previous.Conditions) == 0
	return (isNew || in.Previous.NeverReady) && !answers(in, list)
}

// answers reports whether the application is ready to answer requests: a pod of the main workload, or, if there is none, all objects
// but the routes, which may have to wait for just that.
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
