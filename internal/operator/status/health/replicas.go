package health

import (
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// Replicas are those of live workloads that replace their pods when the template changes.
type Replicas struct {
	// Available replicas of any revision.
	Available int32
	// New are the available ones that are certainly of the newest revision: others may be of an earlier one.
	New int32
	// Desired are those that should have the newest revision.
	Desired int32
	// Noticed says that the controllers have observed the newest revision.
	Noticed bool
}

// ReplicasOf counts the replicas of objects. Jobs have none.
func ReplicasOf(objects map[kube.Key]client.Object) Replicas {
	out := Replicas{Noticed: true}
	for _, object := range objects {
		workload, found := diagnose.WorkloadOf(object)
		if !found || workload.Group != appsv1.GroupName || workload.Kind == "ReplicaSet" {
			continue
		}
		out.Noticed = out.Noticed && workload.Noticed
		out.Available += workload.Available
		out.New += max(0, workload.Available-max(0, workload.All-workload.Updated))
		out.Desired += workload.Desired - workload.Kept
	}
	return out
}
