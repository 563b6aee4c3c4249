package diagnose

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mostEvents is how many events of an object are read: the API server combines equal ones, so that a pod has a dozen.
const mostEvents = 100

// Collect adds to findings the objects that are not watched: pods of the workload, the ReplicaSets of a Deployment,
// events of those in trouble, and the claims that they wait for. It takes one or two requests, and up to five more for
// events and claims each.
func Collect(ctx context.Context, live client.Reader, findings *Findings) error {
	workload := findings.Workload
	selector, err := metav1.LabelSelectorAsSelector(workload.Selector)
	if err != nil {
		return fmt.Errorf("cannot read the selector of %s: %w", workload, err)
	}
	namespace := workload.Namespace
	// Reads from the API server's cache are sufficient.
	cached := &client.ListOptions{Namespace: namespace, LabelSelector: selector,
		Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	sets, pods := &appsv1.ReplicaSetList{}, &corev1.PodList{}
	if workload.sets {
		if err := live.List(ctx, sets, cached); err != nil {
			return fmt.Errorf("cannot list ReplicaSets: %w", err)
		}
	}
	if err := live.List(ctx, pods, cached); err != nil {
		return fmt.Errorf("cannot list pods: %w", err)
	}
	findings.ReplicaSets, findings.Pods = sets.Items, pods.Items
	about := findings.Suspects()
	for _, name := range findings.Waits() {
		claim := &corev1.PersistentVolumeClaim{}
		err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, claim)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot read PersistentVolumeClaim %s: %w", name, err)
		}
		if err == nil && (claim.Status.Phase != corev1.ClaimBound || claim.DeletionTimestamp != nil) {
			findings.Claims, about = append(findings.Claims, *claim), append(about, claim.UID)
		}
	}
	for _, uid := range about {
		events := &corev1.EventList{}
		if err := live.List(ctx, events, client.InNamespace(namespace), client.Limit(mostEvents),
			client.MatchingFields{"involvedObject.uid": string(uid)}); err != nil {
			return fmt.Errorf("cannot list events: %w", err)
		}
		findings.Events = append(findings.Events, events.Items...)
	}
	return nil
}
