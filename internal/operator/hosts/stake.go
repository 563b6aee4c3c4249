package hosts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// owner identifies a resource, by name rather than UID: what is left of an earlier resource of the same name is not a
// rival.
type owner struct {
	schema.GroupKind
	types.NamespacedName
}

// place identifies a route object.
type place struct {
	kube.Key
	namespace string
}

// stake holds claims: of a live route object, of one that a resource requests, or for the hosts that it served
// before.
type stake struct {
	owner  owner // has no name for an object without a controller
	place  place
	born   born // of the route object if it is live, else of the resource
	claims []Claim
	live   bool
	// since is when a resource began to serve its hosts; nil for a live object, which serves since it was created.
	since map[string]time.Time
	// waits is why a wanted route waits; nil if it is granted.
	waits error
}

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

// against reports whether a claim of a stake contradicts another stake. Within a namespace, narrower claims beside
// wider ones are the choice of its users. Between namespaces a host belongs to one: with a more specific path, another
// would take requests from it. If the platform shares a host, only overlapping paths count.
func (s *stake) against(mine Claim, other *stake, rules Rules) bool {
	if s.owner == other.owner || s.place == other.place {
		return false
	}
	return slices.ContainsFunc(other.claims, func(theirs Claim) bool {
		if s.place.namespace == other.place.namespace {
			return mine.same(theirs)
		}
		return mine.hostsOverlap(theirs) && (mine.Path.overlaps(theirs.Path) || !s.shares(mine, other, theirs, rules))
	})
}

// shares reports whether the platform lets both namespaces have paths of the host.
func (s *stake) shares(mine Claim, other *stake, theirs Claim, rules Rules) bool {
	return rules.Shared(s.place.namespace, mine.Host) && rules.Shared(other.place.namespace, theirs.Host)
}

// serves returns since when a stake serves a host; now if it does not yet.
func (s *stake) serves(host string, now time.Time) time.Time {
	switch since, known := s.since[host]; {
	case s.live:
		return s.born.at
	case known:
		return since
	}
	return now
}

// alike reports whether two stakes of one place lead to the same decisions.
func (s *stake) alike(other *stake) bool {
	return s.owner == other.owner && s.born == other.born && slices.Equal(s.claims, other.claims)
}

// has reports whether one of the claims is for the same requests.
func (s *stake) has(claim Claim) bool { return s != nil && slices.ContainsFunc(s.claims, claim.same) }

func ownerOf(resource client.Object) owner {
	return owner{resource.GetObjectKind().GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(resource)}
}

// controllerOf returns the resource that controls an object; without a name if none does.
func controllerOf(object client.Object) owner {
	controller := metav1.GetControllerOfNoCopy(object)
	if controller == nil {
		return owner{}
	}
	group, _, _ := strings.Cut(controller.APIVersion, "/")
	return owner{
		schema.GroupKind{Group: group, Kind: controller.Kind},
		types.NamespacedName{Namespace: object.GetNamespace(), Name: controller.Name},
	}
}
