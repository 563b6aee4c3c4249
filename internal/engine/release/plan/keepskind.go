package plan

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// OtherKindError says that a workload would take the place of one of another kind and the same name, although one of
// them says that it keeps its kind.
type OtherKindError struct {
	// Field of the spec that decides on the kind, as in spec.statefulSet.
	Field string
	// From is the live workload, To the rendered one.
	From, To kube.Key
}

func (e *OtherKindError) Error() string {
	return fmt.Sprintf("%s cannot be added or removed: %s %q would have to become a %s, and its replicas would lose their "+
		"names and what they stored", e.Field, e.From.Kind, e.From.Name, e.To.Kind)
}

// Reason returns the reason of Ready.
func (e *OtherKindError) Reason() string { return v1.ReasonImmutableChange }

// Hint returns what leads there nevertheless.
func (e *OtherKindError) Hint() string {
	return fmt.Sprintf("set %s back; or follow docs/convert-workload.md, which changes an AppService without a loss of data; or "+
		"delete the resource and create it again", e.Field)
}

// KeepsKind returns an error if created objects would take the place of deleted ones that run pods, and are of another
// kind; nil if none does. A replacement that neither of the two objects to is none.
func KeepsKind[C, D client.Object](created []C, deleted []D) *OtherKindError {
	for _, gone := range deleted {
		for _, fresh := range created {
			from, to := kube.KeyOf(gone), kube.KeyOf(fresh)
			field := fresh.GetAnnotations()[v1.AnnotationKeepsKind]
			if field == "" {
				field = gone.GetAnnotations()[v1.AnnotationKeepsKind]
			}
			if field != "" && from.Name == to.Name && from.GroupKind != to.GroupKind && runsPods(from) && runsPods(to) {
				return &OtherKindError{field, from, to}
			}
		}
	}
	return nil
}

func runsPods(key kube.Key) bool { return kube.TraitsOf(key.GroupKind).RunsPods }
