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

// owner identifies a resource, by name rather than UID: what is left of an earlier resource of the same name is not a rival.
type owner struct {
	schema.GroupKind
	types.NamespacedName
}

// place identifies a route object.
type place struct {
	kube.Key
	namespace string
}

// stake holds the claims of a route object: a live one, or one that a resource wants to create.
type stake struct {
	owner  owner // has no name for an object without a controller
	place  place
	born   born
	claims []Claim
	// live reports whether the object exists; otherwise it is wanted.
	live bool
	// waits is why a wanted route waits; nil if it is granted. If it is next, everything that it waits for is about to be deleted.
	waits error
	next  bool
	// version of a live object, and whether a reconcile reported it, which the informer may not show yet.
	version string
	ahead   bool
}

func (s *stake) granted() bool { return !s.live && s.waits == nil }

// stands reports whether other stakes have to wait for this one.
func (s *stake) stands() bool { return s.live || s.granted() || s.next }

// born orders objects, and resources, by age; the name decides between two of the same second.
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

// contradicts reports whether two claims cannot both be granted. Within a namespace, narrower claims beside wider ones are the
// choice of its users. Between namespaces a host belongs to one: with more specific paths, methods or headers, another would take
// requests from it. If the platform shares a host, only requests that both would answer count.
func (s *stake) contradicts(mine, theirs Claim, other *stake, rules Rules) bool {
	switch {
	case s.place.namespace == other.place.namespace:
		return Same(mine, theirs)
	case !hostsOverlap(mine, theirs):
		return false
	}
	return Overlap(mine, theirs) || !rules.Shared(s.place.namespace, mine.Host) || !rules.Shared(other.place.namespace, theirs.Host)
}

// alike reports whether two stakes of one place lead to the same decisions.
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

// controllerOf returns the resource that controls an object; without a name if none does.
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
