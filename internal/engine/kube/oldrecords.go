package kube

import (
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// The records of earlier releases are the same in the caches, except for names and versions.
// Nothing changes objects from a cache.
var (
	formerLabels = map[string]string{v1.LabelManaged: "true", "owner": "helm", "status": "superseded"}
	readyLabels  = map[string]string{v1.LabelManaged: "true", "owner": "helm", "status": "superseded",
		v1.LabelReady: "true"}
	formerIsOurs = true
)

// isOldRecord reports whether an object seems to be the record of an earlier release: the operator only deletes it, or
// returns to it, which reads it.
func isOldRecord(object client.Object) bool {
	labels := object.GetLabels()
	return labels["owner"] == "helm" && labels["status"] == "superseded" &&
		object.GetObjectKind().GroupVersionKind() == SecretKind
}

// oldRecord returns the part of an earlier release's record that the caches hold: its identity, its owner, and whether
// it was Ready. Each resource has several.
func oldRecord(object client.Object) client.Object {
	kept := identity(object)
	kept.SetDeletionTimestamp(object.GetDeletionTimestamp())
	kept.SetLabels(formerLabels)
	if object.GetLabels()[v1.LabelReady] == "true" {
		kept.SetLabels(readyLabels)
	}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		kept.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: unique.Make(controller.APIVersion).Value(),
			Kind:       unique.Make(controller.Kind).Value(),
			Name:       controller.Name,
			UID:        controller.UID,
			Controller: &formerIsOurs,
		}})
	}
	return kept
}
