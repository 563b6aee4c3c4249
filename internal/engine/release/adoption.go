package release

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Adoption is the request of a resource to take over objects of other owners.
type Adoption struct {
	// Release is a Helm release of the namespace; empty for none.
	Release string
	// Restart allows pods to restart, or to end.
	Restart bool
}

// AdoptionOf returns the adoption that a resource requests; nil for none.
func AdoptionOf(resource client.Object) *Adoption {
	annotations := resource.GetAnnotations()
	if annotations[v1.AnnotationAdopt] != "true" {
		return nil
	}
	return &Adoption{Release: annotations[v1.AnnotationAdoptRelease],
		Restart: annotations[v1.AnnotationAdoptRestart] == "true"}
}

// String identifies an adoption.
func (a *Adoption) String() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("release %q, restart %t", a.Release, a.Restart)
}
