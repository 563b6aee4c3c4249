package kube

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deletionPatience is how long an object may take to go once it is due: controllers have cleaned up by then.
const deletionPatience = 30 * time.Second

// Deletion is what is known of an object that is being deleted.
type Deletion struct {
	Key
	Namespace string
	// Since is when its deletion was requested, Due when it should be gone: at the end of the grace period of a pod.
	Since, Due time.Time
	// Finalizers that block it.
	Finalizers []string
	// Remains is what a Namespace reports to be left in it.
	Remains string
	// Node of a pod.
	Node string
}

// DeletionOf returns what is known of the deletion of an object; nil if it is not being deleted.
func DeletionOf(object client.Object) *Deletion {
	due := object.GetDeletionTimestamp()
	if due == nil {
		return nil
	}
	out := &Deletion{Key: KeyOf(object), Namespace: object.GetNamespace(), Since: due.UTC(), Due: due.UTC(),
		Finalizers: object.GetFinalizers()}
	if grace := object.GetDeletionGracePeriodSeconds(); grace != nil {
		out.Since = out.Due.Add(-time.Duration(*grace) * time.Second)
	}
	switch typed := Typed(object).(type) {
	case *corev1.Pod:
		out.Kind, out.Node = "Pod", typed.Spec.NodeName // objects of a list have no kind
	case *corev1.PersistentVolumeClaim:
		out.Kind = "PersistentVolumeClaim"
	case *corev1.Namespace:
		for _, condition := range typed.Status.Conditions {
			if condition.Status == corev1.ConditionTrue {
				out.Remains = condition.Message // the last one is about finalizers
			}
		}
	}
	return out
}

// String says since when it lasts and what blocks it: "since 2026-01-02T03:04:05Z, blocked by finalizer a, b".
func (d *Deletion) String() string {
	text := "since " + d.Since.Format(time.RFC3339)
	if len(d.Finalizers) > 0 {
		text += ", blocked by finalizer " + strings.Join(d.Finalizers, ", ")
	}
	if d.Remains != "" {
		text += ", " + d.Remains
	}
	return text
}

// Until returns when the object is overdue.
func (d *Deletion) Until() time.Time { return d.Due.Add(deletionPatience) }

// Overdue reports whether the object should be gone.
func (d *Deletion) Overdue(now time.Time) bool { return !now.Before(d.Until()) }

// Remedy says what lets the object go.
func (d *Deletion) Remedy() string {
	object := fmt.Sprintf("%s %s", strings.ToLower(d.Kind), d.Name)
	if d.Namespace != "" {
		object += " --namespace=" + d.Namespace
	}
	switch {
	case len(d.Finalizers) > 0 && remedies[d.Finalizers[0]] != "":
		return strings.ReplaceAll(remedies[d.Finalizers[0]], "OBJECT", object)
	case len(d.Finalizers) > 0:
		return fmt.Sprintf("have the controller of the finalizer finish; if it is gone: kubectl patch %s --type=merge "+
			`--patch='{"metadata":{"finalizers":null}}'`, object)
	case d.Kind == "Pod":
		return fmt.Sprintf("if node %q is lost, delete it (kubectl delete node %s); if the pod certainly no longer runs: kubectl delete %s --force",
			d.Node, d.Node, object)
	case d.Kind == "Namespace":
		return "delete the objects that the message names, or have their controllers finish"
	}
	return "see kubectl describe " + object
}

// remedies are what helps against finalizers of Kubernetes.
var remedies = map[string]string{
	"kubernetes.io/pvc-protection": "delete the pods that still mount it (kubectl describe OBJECT): its data go with it",
	"service.kubernetes.io/load-balancer-cleanup": "have the cluster's load balancer controller delete the load balancer " +
		"(kubectl describe OBJECT)",
	"foregroundDeletion": "let the objects go that belong to it: one of them is blocked (kubectl describe OBJECT)",
}
