package render

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Fields knows which fields the kinds of a cluster have.
type Fields interface {
	// UnknownField returns the path of a field of an object that its kind does not have, and the version of that API,
	// empty where it is not known; no path if there is none, or if nothing is known of the kind.
	UnknownField(ctx context.Context, object *unstructured.Unstructured) (path, version string)
}

// TooOldError reports that the cluster has a kind without a field that is rendered: it would be refused when other
// objects are written already, or dropped.
type TooOldError struct {
	kube.Key
	// Field is its path, such as spec.rules[0].retry, and Version that of the API in the cluster, if it is known.
	Field, Version string
	// Err is the answer of the API server; nil if it was not asked.
	Err error
}

func (e *TooOldError) Error() string {
	version := ""
	if e.Version != "" {
		version = " " + e.Version
	}
	return fmt.Sprintf("%s %q: %s is not a field of this cluster's API %s%s", e.Kind, e.Name, e.Field,
		cmp.Or(e.Group, "v1"), version)
}

// Unwrap returns the answer of the API server.
func (e *TooOldError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *TooOldError) Reason() string { return v1.ReasonAPITooOld }

// CheckFields notes the first field of an object that the cluster does not have. Without knowledge of the cluster, it
// has all.
func (r *Result) CheckFields(ctx context.Context, cluster Fields) {
	if cluster == nil {
		return
	}
	for _, object := range r.Objects {
		if path, version := cluster.UnknownField(ctx, object); path != "" {
			r.TooOld = &TooOldError{Key: kube.KeyOf(object), Field: path, Version: version}
			return
		}
	}
}
