package tree

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/operator/status"
)

// stage returns the stage, `before` or `after`, of an object; empty for the main one, and if it could not be read.
func (o *Object) stage() string {
	if o.Live == nil {
		return ""
	}
	switch of := stage.Of(o.Live); of {
	case stage.Before, stage.After:
		return string(of)
	}
	return ""
}

// waitsForStage returns the stage that has to be ready before a release continues; empty if it waits for none.
func waitsForStage(current *v1.AppServiceStatus) string {
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue {
		return ""
	}
	return status.StageIn(ready.Message)
}

// waiting returns the name of the objects that a stage holds back, and a message.
func (f *Findings) waiting(of string) (name, message string) {
	objects := f.unready(of, v1.ResourceWaiting, v1.ResourceFailed)
	message = "waiting for the stage " + of
	if len(objects) > 0 {
		message += ": not ready are " + strings.Join(objects, ", ")
	}
	if release := f.Status.Release; release != nil {
		message += fmt.Sprintf("; nothing else has changed, release %d still runs", release.Revision)
		return "the next release", message
	}
	return "the first release", message + "; nothing else is created yet"
}

// afterFailure returns a hint for a stage that does not become ready without help; nil if it may.
func (f *Findings) afterFailure(of string) *Node {
	if len(f.unready(of, v1.ResourceFailed)) == 0 {
		return nil
	}
	name, back := f.Resource.GetName(), ""
	if f.Status.Release != nil {
		back = "; or return to the running version: kubectl appservice undo " + name
	}
	return hint("change the spec; or retry a failed task: kubectl appservice restart " + name + back)
}

// unready lists the objects of a stage that have one of some states.
func (f *Findings) unready(of string, states ...v1.ResourceState) []string {
	var list []string
	for _, object := range f.Objects {
		for _, state := range states {
			if object.stage() == of && object.Entry.State == state {
				list = append(list, object.Entry.Kind+" "+object.Entry.Name)
			}
		}
	}
	return list
}
