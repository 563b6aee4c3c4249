package translate

import (
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// workloadAnnotations returns the piece for the annotations of the workload.
func (a *Application) workloadAnnotations() []piece {
	annotations := foreignAnnotations(a.Object.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, checksumPrefix) })
	if len(annotations) == 0 {
		return nil
	}
	return []piece{{from: a.from("metadata.annotations"),
		set: func(spec *v1.AppServiceSpec) { spec.WorkloadAnnotations = asAnnotations(annotations) }}}
}

func (a *Application) workloadPieces() []piece {
	list := a.workloadAnnotations()
	size := func(replicas *int32) {
		if a.scaler == nil {
			list = append(list, piece{from: a.from("spec.replicas"), set: func(spec *v1.AppServiceSpec) { spec.Size = replicas }})
		} else if started, err := strconv.ParseInt(a.Object.GetAnnotations()[v1.AnnotationInitialReplicas], 10,
			32); err == nil {
			started := int32(started)
			list = append(list, piece{from: a.from("spec.replicas"), set: func(spec *v1.AppServiceSpec) { spec.Size = &started }})
		}
	}
	if d := a.Deployment; d != nil {
		size(d.Spec.Replicas)
		if d.Spec.Strategy != (appsv1.DeploymentStrategy{}) {
			list = append(list, piece{from: a.from("spec.strategy"),
				set: func(spec *v1.AppServiceSpec) { spec.Strategy = &d.Spec.Strategy }})
		}
		list = append(list, same(a.fromSpec, &d.Spec, theSpec, "ProgressDeadlineSeconds", "RevisionHistoryLimit")...)
		return append(list, piece{from: a.from("spec.minReadySeconds"), set: func(spec *v1.AppServiceSpec) {
			spec.MinReadySeconds = notZero(d.Spec.MinReadySeconds)
		}})
	}
	t := a.Stateful
	size(t.Spec.Replicas)
	list = append(list, same(a.fromSpec, &t.Spec, theSpec, "RevisionHistoryLimit")...)
	list = append(list, piece{from: a.from("spec.minReadySeconds"),
		set: func(spec *v1.AppServiceSpec) { spec.MinReadySeconds = notZero(t.Spec.MinReadySeconds) }})
	return append(list, a.statefulPieces()...)
}
