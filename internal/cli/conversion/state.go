package conversion

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/status"
)

// State is what is known of a conversion.
type State struct {
	// Wanted is the AppService as the file describes it.
	Wanted *unstructured.Unstructured
	// New is its rendered workload.
	New *Workload
	// App is the AppService as it is; nil if there is none.
	App *unstructured.Unstructured
	// Old is the live workload of the AppService that New takes the place of; nil if there is none.
	Old *Workload
	// OldPods are those of Old.
	OldPods []corev1.Pod
	// Pods are those of the live workload that New describes, by number.
	Pods []corev1.Pod
	// Rest are the further objects that are no longer rendered, without claims.
	Rest []*metav1.PartialObjectMetadata
	// Claims are those of the namespace.
	Claims []corev1.PersistentVolumeClaim
}

// Options are what a user allows.
type Options struct {
	// LeaveData allows that claims with data are not mounted any more.
	LeaveData bool
	// StopFirst ends the old pods before there are new ones.
	StopFirst bool
	// KeepOld leaves the old workload running.
	KeepOld bool
	// Suspended says that no tool applies the AppService for now.
	Suspended bool
}

// Step is the next action.
type Step string

// The steps, in their order.
const (
	// Await waits until something is gone that is being deleted, or until pods have ended.
	Await Step = "await"
	// Orphan deletes the AppService, and leaves its objects.
	Orphan Step = "orphan"
	// OrphanSet deletes the old StatefulSet, and leaves its pods: the new one has its name.
	OrphanSet Step = "orphanSet"
	// Stop ends the pods of the old workload, the last replica first.
	Stop Step = "stop"
	// Apply applies the AppService of the file.
	Apply Step = "apply"
	// Replace deletes a pod that lacks a claim, to be made again with it.
	Replace Step = "replace"
	// AwaitReady waits until the AppService is Ready, or until the pod replaced last is.
	AwaitReady Step = "awaitReady"
	// Remove deletes the old workload.
	Remove Step = "remove"
	// Clean deletes the rest.
	Clean Step = "clean"
	// Done: there is nothing to do.
	Done Step = "done"
)

// Next returns the next step. Applied says that the AppService was applied already.
func (s *State) Next(o Options, applied bool) Step {
	switch {
	case s.App != nil && s.App.GetDeletionTimestamp() != nil:
		return Await
	case s.MustGo():
		return Orphan
	case s.Again():
		return awaitOr(s.Old.DeletionTimestamp != nil, OrphanSet)
	case o.StopFirst && s.runs():
		return s.stop()
	case s.App == nil || !applied:
		return Apply
	case len(s.stale()) > 0 && s.replaced():
		return Replace
	case len(s.stale()) > 0, !s.Ready():
		return AwaitReady
	}
	return s.ending(o)
}

// ending returns the next step once the AppService is Ready.
func (s *State) ending(o Options) Step {
	switch {
	case o.KeepOld:
		return Done
	case s.Old != nil && s.Old.DeletionTimestamp == nil && s.runs():
		return s.stop()
	case s.Old != nil:
		return awaitOr(s.Old.DeletionTimestamp != nil, Remove)
	case len(s.Rest) > 0:
		return Clean
	}
	return Done
}

func awaitOr(waits bool, step Step) Step {
	if waits {
		return Await
	}
	return step
}

// stop returns the next step towards an old workload without pods.
func (s *State) stop() Step { return awaitOr(s.Old.Size() == 0, Stop) }

// runs reports whether the old workload has pods, or will have.
func (s *State) runs() bool { return s.Old != nil && (s.Old.Size() > 0 || len(s.OldPods) > 0) }

// Again reports whether the old workload is a StatefulSet that is made again under its name, with other claims.
func (s *State) Again() bool { return s.Old != nil && s.Old.Key() == s.New.Key() }

// MustGo reports whether the AppService has to be deleted: it controls the old workload, or the API would not let it
// become what is wanted.
func (s *State) MustGo() bool {
	return s.App != nil && (perReplica(s.App) != perReplica(s.Wanted) ||
		s.Old != nil && metav1.IsControlledBy(s.Old, s.App))
}

// perReplica returns spec.persistence.perReplica, which the API does not let change.
func perReplica(app *unstructured.Unstructured) bool {
	set, _, _ := unstructured.NestedBool(app.Object, "spec", "persistence", "perReplica")
	return set
}

// Needless reports whether there is nothing to convert.
func (s *State) Needless() bool {
	return s.App != nil && s.App.GetDeletionTimestamp() == nil && !s.MustGo() &&
		s.Old == nil && len(s.stale())+len(s.Rest) == 0
}

// stale returns the pods that have other claims than the workload that controls them gives to new ones.
func (s *State) stale() (pods []corev1.Pod) {
	if s.New.Kind != statefulSetKind.Kind {
		return nil
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if want := s.New.claims(replicaOf(pod)); !slices.Equal(mountedBy(&pod.Spec), want) {
			pods = append(pods, *pod)
		}
	}
	return pods
}

// Stalest returns the pod to replace, the first one: the controller goes through the replicas from 0, and stops at one
// that it cannot change, so it would not bring back a later one.
func (s *State) Stalest() *corev1.Pod {
	stale := s.stale()
	return &stale[0]
}

// replaced reports whether all pods before the next one to replace are there again, and ready.
func (s *State) replaced() bool {
	next := s.Stalest()
	if next.DeletionTimestamp != nil {
		return false
	}
	ready := 0
	for i := range s.Pods {
		if pod := &s.Pods[i]; replicaOf(pod) < replicaOf(next) && isReady(pod) {
			ready++
		}
	}
	return ready == replicaOf(next)
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Ready reports whether the AppService is Ready in its present generation.
func (s *State) Ready() bool {
	condition := s.condition()
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// condition returns Ready of the AppService for its present generation; nil if it has none.
func (s *State) condition() *metav1.Condition {
	said, err := status.Of(s.App)
	if err != nil {
		return nil
	}
	condition := meta.FindStatusCondition(said.Conditions, v1.ConditionReady)
	if condition == nil || condition.ObservedGeneration != s.App.GetGeneration() {
		return nil
	}
	return condition
}

// Awaited says what the next step waits for.
func (s *State) Awaited() string {
	switch {
	case s.App != nil && s.App.GetDeletionTimestamp() != nil:
		return "waiting until the AppService is gone"
	case s.Old != nil && s.Old.DeletionTimestamp != nil:
		return fmt.Sprintf("waiting until %s is gone", s.Old.Key())
	case s.Old != nil && s.Old.Size() == 0 && len(s.OldPods) > 0:
		return fmt.Sprintf("waiting until the pods of %s have ended", s.Old.Key())
	}
	if condition := s.condition(); condition != nil && condition.Status != metav1.ConditionTrue {
		return fmt.Sprintf("waiting until the AppService is Ready: %s: %s", condition.Reason, condition.Message)
	}
	return "waiting until the AppService is Ready"
}
