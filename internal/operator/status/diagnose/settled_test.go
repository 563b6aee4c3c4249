package diagnose

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A settled workload costs no request, so each kind must know when it is.
func TestWhatIsSettled(t *testing.T) {
	ready := func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas, s.Status.UpdatedReplicas = 3, 3 }
	daemons := func(s *appsv1.DaemonSet) { s.Status.NumberReady, s.Status.UpdatedNumberScheduled = 3, 3 }
	unnoticed := func(object client.Object) client.Object {
		object.SetGeneration(2)
		return object
	}
	cases := map[string]struct {
		object           client.Object
		noticed, settled bool
	}{
		"StatefulSet: ready":                {statefulSetOf(ready), true, true},
		"StatefulSet: one is unready":       {statefulSetOf(func(*appsv1.StatefulSet) {}), true, false},
		"StatefulSet: one is of an earlier": {statefulSetOf(func(s *appsv1.StatefulSet) { ready(s); s.Status.UpdatedReplicas = 2 }), true, false},
		"StatefulSet: one too many":         {statefulSetOf(func(s *appsv1.StatefulSet) { ready(s); s.Status.Replicas = 4 }), true, false},
		"StatefulSet: updated by hand": {statefulSetOf(func(s *appsv1.StatefulSet) {
			s.Status.ReadyReplicas = 3
			s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		}), true, true},
		"StatefulSet: updated above a number": {statefulSetOf(func(s *appsv1.StatefulSet) {
			s.Status.ReadyReplicas = 3
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
		}), true, true},
		"StatefulSet: not noticed":     {unnoticed(statefulSetOf(ready)), false, false},
		"DaemonSet: ready":             {daemonSetOf(daemons), true, true},
		"DaemonSet: one is unready":    {daemonSetOf(func(*appsv1.DaemonSet) {}), true, false},
		"DaemonSet: one is missing":    {daemonSetOf(func(s *appsv1.DaemonSet) { daemons(s); s.Status.CurrentNumberScheduled = 2 }), true, false},
		"DaemonSet: not noticed":       {unnoticed(daemonSetOf(daemons)), false, false},
		"ReplicaSet: ready":            {replicaSetOf(func(s *appsv1.ReplicaSet) { s.Status.ReadyReplicas = 1 }), true, true},
		"ReplicaSet: unready":          {replicaSetOf(func(*appsv1.ReplicaSet) {}), true, false},
		"ReplicaSet: pods are refused": {replicaSetOf(func(s *appsv1.ReplicaSet) { s.Status.ReadyReplicas = 1; refuses(s) }), true, false},
		"Deployment: scaled to zero":   {&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](0)}}, true, true},
		"Deployment: no pod yet":       {&appsv1.Deployment{}, true, false},
		"Job: no pod yet":              {jobOf(batchv1.JobStatus{}), true, false},
		"Job: its pods run":            {jobOf(batchv1.JobStatus{Active: 2, Ready: ptr.To[int32](2)}), true, true},
		"Job: a pod does not run":      {jobOf(batchv1.JobStatus{Active: 2, Ready: ptr.To[int32](1)}), true, false},
		"Job: complete":                {jobOf(batchv1.JobStatus{Conditions: concluded(batchv1.JobComplete, "")}), true, true},
		"Job: failed":                  {jobOf(batchv1.JobStatus{Conditions: concluded(batchv1.JobFailed, "")}), true, false},
		"Job: not noticed":             {&batchv1.Job{}, false, false},
		"Job: suspended":               {&batchv1.Job{Spec: batchv1.JobSpec{Suspend: ptr.To(true)}}, true, true},
		"CronJob: never ran":           {cronJobOf(-1, -1, false), true, true},
		"CronJob: runs":                {cronJobOf(0, -1, true), true, false},
		"CronJob: ran":                 {cronJobOf(0, 1, false), true, true},
		"CronJob: did not run well":    {cronJobOf(2, 1, false), true, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if workload, _ := WorkloadOf(test.object); workload.Noticed != test.noticed || workload.Settled != test.settled {
				t.Errorf("noticed %t and settled %t, want %t and %t", workload.Noticed, workload.Settled, test.noticed, test.settled)
			}
		})
	}
}
