package tree

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// dependents adds the objects that other controllers created for an object: slices of a Service, claims of a
// StatefulSet, Jobs of a CronJob, the autoscaler of a ScaledObject.
func (l *Collector) dependents(ctx context.Context, f *Findings, object *Object) {
	in := client.InNamespace(f.Resource.GetNamespace())
	switch object.Entry.Kind {
	case "Service":
		l.list(ctx, f, object, &discoveryv1.EndpointSliceList{}, controlledBy(object), in,
			client.MatchingLabels{discoveryv1.LabelServiceName: object.Entry.Name})
	case "StatefulSet":
		l.list(ctx, f, object, &corev1.PersistentVolumeClaimList{}, func(claim client.Object) bool {
			return claim.GetAnnotations()[v1.AnnotationRetainedFor] == f.Resource.GetName()
		}, in)
	case "CronJob":
		l.list(ctx, f, object, &batchv1.JobList{}, controlledBy(object), in)
	case "ScaledObject":
		l.list(ctx, f, object, &autoscalingv2.HorizontalPodAutoscalerList{}, controlledBy(object), in)
	}
}

func (l *Collector) list(ctx context.Context, f *Findings, object *Object, into client.ObjectList,
	is func(client.Object) bool, options ...client.ListOption) {
	if err := l.Reader.List(ctx, into, options...); err != nil {
		f.gap(err, "objects made for "+object.Entry.Kind, object.Entry.Name)
		return
	}
	_ = meta.EachListItem(into, func(item runtime.Object) error {
		if found, yes := item.(client.Object); yes && is(found) {
			object.Dependents = append(object.Dependents, found)
		}
		return nil
	})
}

func controlledBy(object *Object) func(client.Object) bool {
	return func(other client.Object) bool {
		controller := metav1.GetControllerOfNoCopy(other)
		return controller != nil && controller.UID == object.Live.GetUID()
	}
}
