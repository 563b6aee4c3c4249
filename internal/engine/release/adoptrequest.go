package release

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// mayTake returns why an object that is not the owner's may not be taken over; nil if it may. An object with a
// controller is never taken over.
func (a *Adoption) mayTake(owner client.Object, key kube.Key, live client.Object) error {
	release := live.GetAnnotations()[helmReleaseName]
	switch {
	case live.GetNamespace() != owner.GetNamespace(), metav1.GetControllerOfNoCopy(live) != nil:
		return inTheWay(owner, key, live)
	case !kube.TraitsOf(key.GroupKind).Adoptable:
		return &NotOursError{Key: key, Owner: "of a kind that is not adopted"}
	case live.GetDeletionTimestamp() != nil:
		return &NotOursError{Key: key, Owner: "being deleted"}
	case release == "":
		return nil
	case a.Release == "":
		return &NotOursError{Key: key,
			Owner: fmt.Sprintf("part of Helm release %q, which annotation %s does not name", release, v1.AnnotationAdoptRelease)}
	case release != a.Release || live.GetAnnotations()[helmReleaseNamespace] != owner.GetNamespace():
		return &NotOursError{Key: key,
			Owner: fmt.Sprintf("part of Helm release %q of namespace %q, and annotation %s names %q",
				release, live.GetAnnotations()[helmReleaseNamespace], v1.AnnotationAdoptRelease, a.Release)}
	}
	return nil
}

// Keeps reports whether a live object is a resource's, or is about to be adopted, so that its immutable fields are
// kept.
func Keeps(owner, live client.Object) bool { return controls(owner, live) || AdoptionOf(owner) != nil }

// AdoptionError says why objects cannot be taken over: all reasons, not only the first one found. Nothing was written.
type AdoptionError struct{ Refusals []string }

func (e *AdoptionError) Error() string {
	text := "nothing was adopted, and nothing changed: " + e.Refusals[0]
	if more := len(e.Refusals) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more: status.problems)", more)
	}
	return text
}

// Reason returns the reason of Ready.
func (e *AdoptionError) Reason() string { return v1.ReasonAdoptionRefused }

// Parts returns the reasons one by one.
func (e *AdoptionError) Parts() []string { return e.Refusals }
