package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Key identifies an object among those of one resource: all are in its namespace.
type Key struct {
	schema.GroupKind
	Name string
}

// KeyOf is the key of an object.
func KeyOf(object client.Object) Key {
	return Key{GroupKind: object.GetObjectKind().GroupVersionKind().GroupKind(), Name: object.GetName()}
}

// String is the kind and the name, as in "Deployment web".
func (k Key) String() string { return k.Kind + " " + k.Name }
