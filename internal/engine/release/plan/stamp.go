package plan

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/postrender"
)

// SameStamp reports whether a live object, nil if there is none, is as it is rendered.
func SameStamp(rendered, live client.Object) bool {
	return live != nil && StampOf(rendered) == StampOf(live)
}

// StampOf returns the digest of the rendering that an object is of; empty if it has none.
func StampOf(object client.Object) string { return object.GetAnnotations()[postrender.AnnotationStamp] }
