package release

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// controls reports whether an object is the owner's: by its controller reference or, for a claim that is retained for
// it and a cluster-scoped object, by the label with its UID.
func controls(owner, object client.Object) bool {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID == owner.GetUID() &&
			kube.OfKind(controller, owner.GetObjectKind().GroupVersionKind().GroupKind())
	}
	return (object.GetNamespace() == "" || kube.RetainedFor(object) == owner.GetName()) &&
		object.GetLabels()[v1.LabelOwner] == string(owner.GetUID())
}

// disowned reports whether an object without a controller was rendered for the owner, and has lost the metadata that
// show it. The stamp covers the owner's UID, so the object of an earlier owner has another one.
func disowned(desired, live client.Object) bool {
	stamp := live.GetAnnotations()[postrender.AnnotationStamp]
	return stamp != "" && stamp == desired.GetAnnotations()[postrender.AnnotationStamp] &&
		metav1.GetControllerOfNoCopy(live) == nil
}

// inTheWay returns the error for an existing object that has a rendered name.
func inTheWay(owner client.Object, key kube.Key, object client.Object) error {
	controller := metav1.GetControllerOfNoCopy(object)
	switch {
	case controller != nil && kube.OfKind(controller, owner.GetObjectKind().GroupVersionKind().GroupKind()) &&
		controller.Name == owner.GetName():
		return &PreviousError{[]Remnant{{key, kube.DeletionOf(object)}}}
	case controller != nil:
		return &NotOursError{Key: key, Owner: fmt.Sprintf("controlled by %s %q", controller.Kind, controller.Name),
			Remedy: fmt.Sprintf("give this %s another name: %s %s needs that object", kindOf(owner), controller.Kind,
				controller.Name)}
	case key.Kind == kube.RetainedKind && kube.RetainedFor(object) != "" && kube.RetainedFor(object) != owner.GetName():
		return &NotOursError{Key: key, Owner: "not its own" + takenOver + ", with its data)",
			Remedy: fmt.Sprintf("give this %s or its claim another name, or ask for fewer replicas: the claim has the data of %s, "+
				"which are deleted with it", kindOf(owner), kube.RetainedFor(object))}
	case key.Kind == kube.RetainedKind:
		return &NotOursError{Key: key, Owner: "not its own" + takenOver + ", with its data)", Remedy: adoptsFor(owner)}
	case isLeft(owner, object):
		return &NotOursError{Key: key, Owner: "left by an earlier resource of this name" + takenOver + ")", Remedy: adoptsFor(owner)}
	case object.GetAnnotations()[helmReleaseName] != "":
		return &NotOursError{Key: key,
			Owner: fmt.Sprintf("part of Helm release %q, which this operator did not make",
				object.GetAnnotations()[helmReleaseName])}
	}
	return &NotOursError{Key: key, Owner: "not managed by this operator"}
}

// adoptsFor returns how a resource gets what an object holds.
func adoptsFor(owner client.Object) string {
	return fmt.Sprintf("to keep what it holds, take it over: kubectl annotate %s %s --namespace=%s %s=true; to delete it deletes its data",
		strings.ToLower(kindOf(owner)), owner.GetName(), owner.GetNamespace(), v1.AnnotationAdopt)
}

func kindOf(object client.Object) string { return object.GetObjectKind().GroupVersionKind().Kind }

// takenOver says what the resource has to say to get an object.
const takenOver = " (annotation " + v1.AnnotationAdopt + `: "true" takes it over`

// The annotations by which Helm, and this operator, record the release that an object belongs to.
const (
	helmReleaseName      = "meta.helm.sh/release-name"
	helmReleaseNamespace = "meta.helm.sh/release-namespace"
)

// left reports whether an object is left by an earlier resource of the owner's name, and the owner requests to take it
// over.
func left(owner, live client.Object) bool { return AdoptionOf(owner) != nil && isLeft(owner, live) }

// isLeft reports whether an object without a controller was rendered for an earlier resource of the owner's kind,
// namespace and name, and outlived it: it was deleted with --cascade=orphan, or the object comes from a backup. Anyone
// who forges that has his own object changed to the rendered one.
func isLeft(owner, live client.Object) bool {
	annotations := live.GetAnnotations()
	return metav1.GetControllerOfNoCopy(live) == nil && live.GetNamespace() != "" &&
		live.GetNamespace() == owner.GetNamespace() &&
		live.GetLabels()[v1.LabelManaged] == "true" && annotations[postrender.AnnotationStamp] != "" &&
		annotations[helmReleaseName] == owner.GetName() && annotations[helmReleaseNamespace] == owner.GetNamespace()
}
