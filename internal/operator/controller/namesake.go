package controller

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release"
)

// namesake refuses a resource before its first write if one of another kind has its name: release records are named
// after both. The older one has the name; where both have releases already, both continue, and the status of the
// younger one warns.
func (r *Reconciler) namesake(ctx context.Context, s *scope, _ *rendering, found attempt) (hold, error) {
	for _, kind := range r.Others {
		other := kube.Object(kind)
		if err := r.Client.Get(ctx, s.name(), other); err != nil {
			continue
		}
		_, released, _ := unstructured.NestedMap(other.Object, "status", "release")
		first := len(found.observed.Records) == 0 && s.previous.Release == nil
		if !older(other, s.resource) && (!first || !released) {
			continue
		}
		if s.namesake = kind.Kind; first {
			key := kube.Key{GroupKind: kind.GroupKind(), Name: s.resource.GetName()}
			return found.hold, &release.NotOursError{Key: key,
				Owner:  "served by this operator as well, whose release records are named after both",
				Remedy: fmt.Sprintf("give this %s another name; %s %s stays as it is", r.Kind.Kind, key.Kind, key.Name)}
		}
	}
	return found.hold, nil
}

// older reports whether a resource has its name for longer than one of another kind.
func older(a, b *unstructured.Unstructured) bool {
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(first.Compare(second.Time), cmp.Compare(a.GetKind(), b.GetKind())) < 0
}
