package history

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// taskNames returns the names of the Jobs of the stage `before` of a release that run once: its release task.
func (r *Revision) taskNames() []string {
	var names []string
	if r.recorded == nil {
		return nil
	}
	for _, object := range r.recorded.Objects {
		if jobs.RunsOnce(object) && stage.Of(object) == stage.Before {
			names = append(names, object.GetName())
		}
	}
	return names
}

// ranCommands returns the commands of a release task that ran, as the record of the release has them: by the part of
// each digest that stands for the command.
func (r *Revision) ranCommands() []string {
	var list []string
	names := r.taskNames()
	for _, run := range r.Runs {
		if slices.Contains(names, run.Job) {
			list = append(list, jobs.ContentPart(run.Digest))
		}
	}
	return list
}

// Skip has the annotation written with the spec that skips these release tasks. It has the parts of their digests that
// stand for the command, separated by commas. Empty removes the annotation, if there is one.
func (u *Undo) Skip(tasks string) {
	annotations := u.Resource.GetAnnotations()
	if annotations[v1.AnnotationSkipTask] == tasks {
		return
	}
	u.before = u.Resource.DeepCopy().GetAnnotations()
	if tasks == "" {
		delete(annotations, v1.AnnotationSkipTask)
	} else {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1.AnnotationSkipTask] = tasks
	}
	u.Resource.SetAnnotations(annotations)
	u.annotates = true
}

// annotationPatch returns the operations of a JSON patch that write the annotation, and leave others as they are.
func (u *Undo) annotationPatch() []map[string]any {
	const at = "/metadata/annotations"
	value, set := u.Resource.GetAnnotations()[v1.AnnotationSkipTask]
	switch key := at + "/app.example.com~1skip-release-task"; {
	case !u.annotates:
		return nil
	case !set:
		return []map[string]any{{"op": "remove", "path": key}}
	case len(u.before) == 0:
		return []map[string]any{{"op": "test", "path": at, "value": nil},
			{"op": "add", "path": at, "value": map[string]string{v1.AnnotationSkipTask: value}}}
	default:
		return []map[string]any{{"op": "add", "path": key, "value": value}}
	}
}

// isOvertaken reports whether the resource has another spec by now than was read, or whether its annotations came or
// went.
func (u *Undo) isOvertaken(now *unstructured.Unstructured) bool {
	_, there := now.GetAnnotations()[v1.AnnotationSkipTask]
	_, was := u.before[v1.AnnotationSkipTask]
	other := there != was || (len(now.GetAnnotations()) == 0) != (len(u.before) == 0)
	return !kube.SameGeneration(u.Resource, now) || u.annotates && other
}
