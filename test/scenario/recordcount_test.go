//go:build cluster

package scenario

import (
	"fmt"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptRecords is how many release records operators keep here.
const keptRecords = 5

// shelf is the release records of a namespace over time: a watch shows each state that the API server was in, in order.
type shelf struct {
	status map[int]string // by revision
	wrong  []string
}

// note processes an event of a Secret, which may not be a record.
func (s *shelf) note(object client.Object, gone bool) {
	revision, err := strconv.Atoi(object.GetLabels()["version"])
	if labels := object.GetLabels(); labels["owner"] != "helm" || labels["name"] != appName || err != nil {
		return
	}
	if s.status == nil {
		s.status = map[int]string{}
	}
	if gone {
		delete(s.status, revision)
	} else {
		s.status[revision] = object.GetLabels()["status"]
	}
	newest := 0
	for revision := range s.status {
		newest = max(newest, revision)
	}
	switch {
	case len(s.status) == 0:
		s.wrong = append(s.wrong, fmt.Sprintf("with record %d, the last one goes", revision))
	case len(s.status) > keptRecords+1:
		s.wrong = append(s.wrong, fmt.Sprintf("with record %d, there are %d", revision, len(s.status)))
	case s.status[newest] != "deployed":
		s.wrong = append(s.wrong, fmt.Sprintf("the newest record, %d, is %s", newest, s.status[newest]))
	}
}

// shelfOf returns the records of a namespace, and what was wrong with them in earlier states.
func (w *world) shelfOf(namespace string) shelf {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.shelves[namespace]; s != nil {
		return *s
	}
	return shelf{}
}

// keepsRecords reports whether the records of a scenario always include the running release, and no more than are kept and the one that is about to
// be deleted. If the AppService is deleted, its records are, too.
func (w scenario) keepsRecords() bool {
	for _, step := range w.all() {
		if len(step.remove) > 0 {
			return false
		}
	}
	return true
}
