package explain

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// LeftOver adds a note for each object that became part of no AppService.
func LeftOver(o *read.Objects) []read.Note {
	var notes []read.Note
	for _, object := range o.All {
		if o.Taken[object] {
			continue
		}
		note := read.Note{Object: read.Describe(object), Reason: leftOverReason(o, object), Remedy: leftOverRemedy(object)}
		notes = append(notes, note)
	}
	return notes
}

func leftOverReason(o *read.Objects, object *unstructured.Unstructured) string {
	switch {
	case object.GetKind() == "ScaledObject":
		return "its triggers are not read"
	case elsewhere(o, object):
		return "no workload is in its namespace, " + cmp.Or(object.GetNamespace(), "which is not given")
	case object.GetAnnotations()[read.HookAnnotation] != "":
		return "only Helm makes it, as the hook " + object.GetAnnotations()[read.HookAnnotation]
	case object.GetKind() == "Secret" || object.GetKind() == "ConfigMap":
		return "it is not part of the AppService, which may refer to it"
	}
	return "no field of an AppService makes one"
}

// elsewhere reports whether an object could belong to a workload, and none is in its namespace.
func elsewhere(o *read.Objects, object *unstructured.Unstructured) bool {
	return read.Readable[read.GroupOf(object)+"/"+object.GetKind()] != nil && len(o.In(object.GetNamespace()).Workloads) == 0
}

func leftOverRemedy(object *unstructured.Unstructured) string {
	switch {
	case strings.HasPrefix(object.GetAnnotations()[read.HookAnnotation], "test"):
		return "run it by hand, or leave it out"
	case stage.OfHook(object.GetAnnotations()[read.HookAnnotation]) != "":
		return "in a chart of your own, the annotation " + v1.AnnotationStage + ": " +
			string(stage.OfHook(object.GetAnnotations()[read.HookAnnotation])) + " takes its place; or make it a Job that is applied beside the AppService"
	case object.GetAnnotations()[read.HookAnnotation] != "":
		return "make it a Job, or an AppJob, that is applied beside the AppService"
	case object.GetKind() == "ScaledObject":
		return "write them in spec.autoscaling.triggers"
	}
	return "apply it beside the AppService"
}
