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

// owner identifies a resource, by name rather than UID: routes left by an earlier resource of the same name are no
// rivals.
type owner struct {
	schema.GroupKind
	types.NamespacedName
}

// routeKey identifies a route object.
type routeKey struct {
	kube.Key
	namespace string
}

// candidate is who may get a host: a live route, one that a resource requests, or a resource with hosts that it served.
type candidate struct {
	owner owner // has no name for an object without a controller
	route routeKey
	born  born // of the route object if it is live, else of the resource
	paths []RoutePath
	live  bool
	// since is when a resource began to serve its hosts; nil for a live object, which serves since it was created.
	since map[string]time.Time
	// waits is why a requested route waits; nil if it is granted.
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

// conflictsWith reports whether a path of a candidate conflicts with another candidate. Within a namespace, narrower
// paths beside wider ones are the choice of its users. Between namespaces a host belongs to one: with a more specific
// path, another would take requests from it. If the platform shares a host, only overlapping paths count.
func (c *candidate) conflictsWith(mine RoutePath, other *candidate, rules Rules) bool {
	if c.owner == other.owner || c.route == other.route {
		return false
	}
	return slices.ContainsFunc(other.paths, func(theirs RoutePath) bool {
		if c.route.namespace == other.route.namespace {
			return mine.same(theirs)
		}
		return mine.hostsOverlap(theirs) && (mine.Path.overlaps(theirs.Path) || !c.shares(mine, other, theirs, rules))
	})
}

// shares reports whether the platform lets both namespaces have paths of the host.
func (c *candidate) shares(mine RoutePath, other *candidate, theirs RoutePath, rules Rules) bool {
	return rules.Shared(c.route.namespace, mine.Host) && rules.Shared(other.route.namespace, theirs.Host)
}

// serves returns since when a candidate serves a host; now if it does not yet.
func (c *candidate) serves(host string, now time.Time) time.Time {
	switch since, known := c.since[host]; {
	case c.live:
		return c.born.at
	case known:
		return since
	}
	return now
}

// alike reports whether two candidates of one route object lead to the same decisions.
func (c *candidate) alike(other *candidate) bool {
	return c.owner == other.owner && c.born == other.born && slices.Equal(c.paths, other.paths)
}

// has reports whether one of the candidate's paths matches the same requests.
func (c *candidate) has(p RoutePath) bool { return c != nil && slices.ContainsFunc(c.paths, p.same) }

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
