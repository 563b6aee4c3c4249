package plan

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Verified are objects that were found to match a release. They need not be compared again while only their status
// changes. The zero value has none.
type Verified struct {
	digest  string
	objects map[kube.Key]client.Object
}

// Verify returns the objects that were found to match the release with a digest. They must not be changed afterwards.
func Verify(digest string, objects map[kube.Key]client.Object) Verified {
	return Verified{digest: digest, objects: remembered(objects)}
}

// remembered returns the part of objects that may be remembered: only the version of large ones. Those are compared
// again when their version changes.
func remembered(objects map[kube.Key]client.Object) map[kube.Key]client.Object {
	out := maps.Clone(objects)
	for key, object := range out {
		out[key] = kube.Remembered(object)
	}
	return out
}

// None reports whether nothing was found to match yet.
func (v Verified) None() bool { return v.objects == nil }

// Covers reports whether objects are all objects of a release, and still as they were verified.
func (v Verified) Covers(digest string, objects map[kube.Key]client.Object) bool {
	if digest != v.digest || len(objects) != len(v.objects) {
		return false
	}
	for key, object := range objects {
		if known := v.objects[key]; known == nil || !kube.SameButStatus(known, object) {
			return false
		}
	}
	return true
}

// Knows reports whether the content of an object need not be read: it is only compared with the rendered one, and was
// found to match in this version.
func (v Verified) Knows(object client.Object) bool {
	key := kube.KeyOf(object)
	known := v.objects[key]
	return known != nil && kube.TraitsOf(key.GroupKind).Payload && kube.SameButStatus(known, object)
}

// same reports whether an object is still as it was verified, and is rendered as it was then.
func (v Verified) same(key kube.Key, desired, live client.Object) bool {
	return v.saw(key, live) && StampOf(v.objects[key]) == StampOf(desired)
}

// saw reports whether an object is still as it was verified.
func (v Verified) saw(key kube.Key, live client.Object) bool {
	known := v.objects[key]
	return known != nil && kube.SameButStatus(known, live)
}
