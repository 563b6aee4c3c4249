//go:build cluster

package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// noticed returns what shows that the operator has not processed a step yet. A status says which generation it speaks of, but
// not of a change without a generation: that an operator has been quiet for a while means nothing on a machine on which
// it has not been scheduled for as long.
func (s *stage) noticed(step step, objects map[string]*unstructured.Unstructured) error {
	for _, what := range step.undone {
		object := s.object(what)
		if isThere(step.edit[what], objects[object.GetKind()+" "+object.GetName()]) {
			return fmt.Errorf("the edit of %s is still there", what)
		}
	}
	if step.expect.runs == nil { // those of a refused version are listed
		if what := seen.yetToRun(s.namespace); what != "" {
			return fmt.Errorf("%q has not run yet", what)
		}
	}
	if recordsIn(objects) > keptRecords {
		return fmt.Errorf("there are %d release records", recordsIn(objects))
	}
	return nil
}

// isThere reports whether a merge patch would not change an object.
func isThere(patch string, live *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	before, err := json.Marshal(live.Object)
	if err != nil {
		return false
	}
	after, err := jsonpatch.MergePatch(before, []byte(patch))
	var now, then any
	return err == nil && json.Unmarshal(before, &now) == nil && json.Unmarshal(after, &then) == nil && reflect.DeepEqual(now, then)
}

// recordsIn counts the release records among objects.
func recordsIn(objects map[string]*unstructured.Unstructured) (count int) {
	for _, object := range objects {
		if object.GetLabels()["owner"] == "helm" {
			count++
		}
	}
	return count
}

// yetToRun returns what an AppJob or a release task was asked to run last, if it has not begun.
func (w *world) yetToRun(namespace string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.ledgers[namespace]; l != nil {
		return l.lost()
	}
	return ""
}
