package hosts

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// owner is a resource. Its name rather than its UID: what is left of an earlier resource of the name is no rival.
type owner struct {
	schema.GroupKind
	types.NamespacedName
}

// place is where a route object is.
type place struct {
	kube.Key
	namespace string
}

// stake is what a route object claims: one that is live, or one that a resource wants to be.
type stake struct {
	owner  owner // has no name for an object without a controller
	place  place
	born   born
	claims []Claim
	// live says that the object is there; otherwise it is wanted.
	live bool
	// waits says what a wanted route waits for; nil if it is granted. If it is next, all that it waits for is about to go.
	waits error
	next  bool
	// version of a live object, and whether a reconcile reported it, which the informer may not show yet.
	version string
	ahead   bool
}

func (s *stake) granted() bool { return !s.live && s.waits == nil }

// stands reports whether a stake keeps others waiting.
func (s *stake) stands() bool { return s.live || s.granted() || s.next }

// born orders objects, and resources, by age; the name decides between two of one second.
type born struct {
	at   time.Time
	name string
}

func bornOf(object client.Object) born {
	kind := object.GetObjectKind().GroupVersionKind().GroupKind()
	return born{object.GetCreationTimestamp().Time, object.GetNamespace() + "/" + object.GetName() + " " + kind.String()}
}

func (b born) compare(other born) int {
	return cmp.Or(b.at.Compare(other.at), cmp.Compare(b.name, other.name))
}

// contradicts reports whether two claims cannot be both granted. Within a namespace, narrower claims beside wider ones are a
// choice of its people. A host belongs to one namespace: on more specific paths, methods or headers, another one would take requests
// from it. If the platform shares a host, only requests that both would answer count.
func (s *stake) contradicts(mine, theirs Claim, other *stake, rules Rules) bool {
	switch {
	case s.place.namespace == other.place.namespace:
		return Same(mine, theirs)
	case !hostsOverlap(mine, theirs):
		return false
	}
	return Overlap(mine, theirs) || !rules.Shared(s.place.namespace, mine.Host) || !rules.Shared(other.place.namespace, theirs.Host)
}

// alike reports whether two stakes of a place lead to the same decisions.
func (s *stake) alike(other *stake) bool {
	return s.owner == other.owner && s.born == other.born && slices.Equal(s.claims, other.claims)
}

// serves reports whether one of the claims is for the same requests.
func (s *stake) serves(claim Claim) bool {
	for _, mine := range s.claims {
		if Same(mine, claim) {
			return true
		}
	}
	return false
}

func ownerOf(resource client.Object) owner {
	return owner{resource.GetObjectKind().GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(resource)}
}

// controllerOf is the resource that controls an object; without a name if none does.
func controllerOf(object client.Object) owner {
	controller := metav1.GetControllerOfNoCopy(object)
	if controller == nil {
		return owner{}
	}
	group, _ := schema.ParseGroupVersion(controller.APIVersion)
	return owner{
		schema.GroupKind{Group: group.Group, Kind: controller.Kind},
		types.NamespacedName{Namespace: object.GetNamespace(), Name: controller.Name},
	}
}
