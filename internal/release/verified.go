package release

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// Verified are objects that were found to be as a release has them. They need not be compared again while nothing but their status changes.
// The zero value has none.
type Verified struct {
	digest  string
	objects map[kube.Key]client.Object
	// lastGood says that some may be as another release has them: all together are known, none alone.
	lastGood bool
}

// Verify returns the objects that were found to be as the release with a digest has them. They must not be changed afterwards.
func Verify(digest string, objects map[kube.Key]client.Object) Verified {
	return Verified{digest: digest, objects: remembered(objects)}
}

// VerifyLastGood returns the objects for which CompareLastGood found nothing to do.
func VerifyLastGood(digest string, objects map[kube.Key]client.Object) Verified {
	return Verified{digest: digest, objects: remembered(objects), lastGood: true}
}

// remembered returns of objects what may be remembered of them: of those that are large, the version. They are compared again when another
// one is there.
func remembered(objects map[kube.Key]client.Object) map[kube.Key]client.Object {
	out := maps.Clone(objects)
	for key, object := range out {
		out[key] = kube.Remembered(object)
	}
	return out
}

// Covers reports whether objects are all of a release, and still as they were found.
func (v Verified) Covers(digest string, objects map[kube.Key]client.Object) bool {
	return !v.lastGood && v.CoversLastGood(digest, objects)
}

// CoversLastGood reports whether CompareLastGood would find nothing to do.
func (v Verified) CoversLastGood(digest string, objects map[kube.Key]client.Object) bool {
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

// same reports whether an object is still as a release had it, and rendered now as then.
func (v Verified) same(key kube.Key, desired, live client.Object) bool {
	known := v.objects[key]
	return known != nil && !v.lastGood && stampOf(known) == stampOf(desired) && kube.SameButStatus(known, live)
}
