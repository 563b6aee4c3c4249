package health

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// Replicas are those of live workloads that replace their pods when the template changes.
type Replicas struct {
	// Available replicas of any revision.
	Available int32
	// New are the available ones that are certainly of the newest revision: others may be of an earlier one.
	New int32
	// Wanted are those that are to have the newest revision.
	Wanted int32
	// Noticed says that the controllers have observed the newest revision.
	Noticed bool
}

// ReplicasOf counts the replicas of objects. What runs to its end has none.
func ReplicasOf(objects map[kube.Key]client.Object) Replicas {
	out := Replicas{Noticed: true}
	add := func(object client.Object, observed int64, wanted int32, have counts) {
		out.Noticed = out.Noticed && observed >= object.GetGeneration()
		out.Available += have.available
		out.New += max(0, have.available-max(0, have.all-have.updated))
		out.Wanted += wanted
	}
	for _, object := range objects {
		switch object := kube.Typed(object).(type) {
		case *appsv1.Deployment:
			have := object.Status
			add(object, have.ObservedGeneration, ptr.Deref(object.Spec.Replicas, 1), counts{have.Replicas, have.UpdatedReplicas, have.AvailableReplicas})
		case *appsv1.StatefulSet:
			have, want := object.Status, ptr.Deref(object.Spec.Replicas, 1)
			add(object, have.ObservedGeneration, want-earlierByDesign(object), counts{have.Replicas, have.UpdatedReplicas, have.AvailableReplicas})
		case *appsv1.DaemonSet:
			have, want := object.Status, object.Status.DesiredNumberScheduled
			if object.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
				want = 0
			}
			add(object, have.ObservedGeneration, want, counts{have.CurrentNumberScheduled, have.UpdatedNumberScheduled, have.NumberAvailable})
		}
	}
	return out
}
