package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Named returns a reader that requests no object whose name or namespace is not a single path segment: no such object
// can exist. Names in specs are written by users, and not every client checks them: "../../other/secrets/db" would be
// read from another namespace.
func Named(reader client.Reader) client.Reader { return named{reader} }

type named struct{ client.Reader }

func (n named) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if !segment(key.Name) || key.Namespace != "" && !segment(key.Namespace) {
		kind := object.GetObjectKind().GroupVersionKind()
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
	}
	return n.Reader.Get(ctx, key, object, options...)
}

func segment(name string) bool { return name != "" && len(content.IsPathSegmentName(name)) == 0 }
