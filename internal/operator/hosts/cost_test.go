package hosts

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// most is how many bytes the paths of a live route may take: about 300 for each host. The caches keep routes of 32 KiB.
const most = 384 << 10

// Everybody may write routes that name a resource as their controller. The hosts keep no multiple of the memory that the cache keeps for them.
func TestLiveRoutesTakeLittleMemory(t *testing.T) {
	const routes = 20
	deep := strings.Repeat("a.", 118)
	for name, route := range map[string]func(i int) client.Object{
		"an Ingress with hosts of many labels": func(i int) client.Object { return ingressOf(deep+"%d."+fmt.Sprint(i)+".com", 100, 0) },
		"an Ingress with many short hosts":     func(i int) client.Object { return ingressOf("h%d.a"+fmt.Sprint(i)+".b", 850, 0) },
		"an Ingress with many paths":           func(i int) client.Object { return ingressOf("h%d.a"+fmt.Sprint(i)+".b", 1, 280) },
		"an HTTPRoute of which everything may be everything": func(i int) client.Object {
			parents, hosts, matches := list(32, `{name: g%d}`), list(16, fmt.Sprintf(`%sh%%d.%d.com`, deep, i)), list(128, `{path: {value: /p%d}}`)
			return object(t, fmt.Sprintf(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: {parentRefs: [%s], hostnames: [%s], rules: [{matches: [%s]}]}}`,
				parents, hosts, matches))
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := make([]client.Object, routes)
			for i := range made {
				made[i] = route(i)
				made[i].SetNamespace("demo")
				made[i].SetName(fmt.Sprint("route-", i))
				made[i].SetOwnerReferences([]metav1.OwnerReference{{APIVersion: appService.GroupVersion().String(), Kind: appService.Kind, Name: "paused", Controller: ptr.To(true)}})
			}
			if kube.Large(made[0]) {
				t.Fatal("the caches do not keep it: that is not an attack")
			}
			h := New(nil, nil, nil, Free{})
			before := heap()
			for _, object := range made {
				h.see(feed{}, object, false)
			}
			each := (heap() - before) / routes
			t.Logf("%d KiB each", each>>10)
			if each > most {
				t.Errorf("the paths of each take %d KiB, want %d at the most", each>>10, most>>10)
			}
			for _, object := range made {
				h.see(feed{}, object, true)
			}
			if len(h.live[feed{}])+len(h.all.buckets)+h.all.hosts.Len() != 0 {
				t.Error("something is left of routes that are gone")
			}
		})
	}
}

// A usual fleet takes little: the hosts of ten thousand applications, each with a few paths.
func TestTenThousandRoutesTakeLittleMemory(t *testing.T) {
	const routes, mostOfAll = 10_000, 48 << 20
	made := make([]client.Object, routes)
	for i := range made {
		made[i] = ingressOf("web-%d.a"+fmt.Sprint(i)+".example.com", 1, 3)
		made[i].SetNamespace(fmt.Sprint("team-", i/10))
		made[i].SetName(fmt.Sprint("web-", i))
		made[i].SetOwnerReferences([]metav1.OwnerReference{{APIVersion: appService.GroupVersion().String(), Kind: appService.Kind, Name: fmt.Sprint("web-", i), Controller: ptr.To(true)}})
	}
	h := New(nil, nil, nil, Free{})
	before := heap()
	for _, object := range made {
		h.see(feed{}, object, false)
	}
	grown := heap() - before
	t.Logf("%d routes of 3 paths take %d MB, %d bytes each", routes, grown>>20, grown/routes)
	if grown > mostOfAll {
		t.Errorf("%d routes take %d MB, want %d at the most", routes, grown>>20, mostOfAll>>20)
	}
	runtime.KeepAlive(h)
	runtime.KeepAlive(made)
}

// No resource may render more paths than that.
func TestWhatARouteClaimsAtTheMost(t *testing.T) {
	for name, test := range map[string]struct {
		route client.Object
		want  int
		last  string
	}{
		"as many paths as a resource may render":    {ingressOf("h%03d.com", 1, 128), 128, "h000.com/p99"},
		"the same paths twice":                      {twice(ingressOf("h%03d.com", 1, 128)), 128, "h000.com/p99"},
		"more paths: the host as a whole":           {ingressOf("h%03d.com", 1, 129), 1, "h000.com/"},
		"many paths of several hosts":               {ingressOf("h%03d.com", 43, 3), 43, "h042.com/"},
		"more hosts: as a whole":                    {ingressOf("h%03d.com", 200, 1), 200, "h199.com/"},
		"as many hosts as a resource may render":    {ingressOf("h%03d.com", 128, 1), 128, "h127.com/p0"},
		"an HTTPRoute with more gateways and hosts": {object(t, fmt.Sprintf(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: {parentRefs: [%s], hostnames: [%s]}}`, list(32, `{name: g%d}`), list(16, `h%d.com`))), 512, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := routePathsOf(test.route, limits.RoutePaths)
			if len(got) != test.want || test.last != "" && got[len(got)-1].String() != test.last {
				t.Errorf("it has %d paths, the last is %s; want %d, %s", len(got), got[len(got)-1], test.want, test.last)
			}
		})
	}
}

// No host of a route is nobody's: of very many, all below their domains belong to it.
func TestAllHostsOfALargeRouteCount(t *testing.T) {
	for name, test := range map[string]struct {
		host  string
		hosts int
		want  int
		holds []string
		free  string
	}{
		"as many as are kept":            {"h%d.example.com", 2000, 2000, []string{"h0.example.com", "h1999.example.com"}, "x.example.com"},
		"more of one domain":             {"h%d.example.com", 2001, 1001, []string{"h0.example.com", "h1999.example.com", "x.example.com"}, "x.example.org"},
		"more, each in a domain":         {"www.h%d.example.com", 5000, 1000, []string{"www.h0.example.com", "www.h4999.example.com"}, "x.example.org"},
		"more, each in a domain of com":  {"www.h%d.com", 5000, 1000, []string{"www.h4999.com", "x.com"}, "x.org"},
		"more, each a domain of its own": {"h%d", 2001, 2000, []string{"h0"}, "x.org"},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(nil, nil, nil, Free{})
			live := ingressOf(test.host, test.hosts, 1)
			live.SetNamespace("others")
			live.SetName("large")
			h.see(feed{}, live, false)
			if got, _ := hostsOf(live); len(got) != test.want {
				t.Errorf("got %d paths, want %d: %v …", len(got), test.want, got[:3])
			}
			mine := candidateIn("mine", "a")
			held := func(host string) bool {
				for range h.all.rivals(mine, routePath(host, Prefix, "/"), Free{}) {
					return true
				}
				return false
			}
			for _, host := range test.holds {
				if !held(host) {
					t.Errorf("%s is free", host)
				}
			}
			if held(test.free) {
				t.Errorf("%s is not free", test.free)
			}
		})
	}
}

// ingressOf is one of hosts, each with its number, and of exact paths of each; without paths, all of them go to the default backend.
func ingressOf(host string, hosts, paths int) client.Object {
	made := &networkingv1.Ingress{}
	made.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("Ingress"))
	for number := range hosts {
		rule := networkingv1.IngressRule{Host: fmt.Sprintf(host, number)}
		if paths > 0 {
			rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
		}
		for path := range paths {
			rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{Path: fmt.Sprint("/p", path), PathType: ptr.To(networkingv1.PathTypeExact)})
		}
		made.Spec.Rules = append(made.Spec.Rules, rule)
	}
	return made
}

// twice repeats the rules of an Ingress.
func twice(route client.Object) client.Object {
	made := route.(*networkingv1.Ingress)
	made.Spec.Rules = append(made.Spec.Rules, made.Spec.Rules...)
	return made
}

// list is a list of entries, each with its number.
func list(count int, entry string) string {
	var entries []string
	for i := range count {
		entries = append(entries, fmt.Sprintf(entry, i))
	}
	return strings.Join(entries, ", ")
}

// heap is how many bytes are in use.
func heap() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// The caches keep only the identity of routes without an owner. Such a route has no paths, whoever labels it as ours.
func TestARouteOfWhichOnlyTheIdentityIsKnownClaimsNothing(t *testing.T) {
	for name, spec := range map[string]string{
		"Ingress":   `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: demo}, spec: {rules: [{host: a.example.com}]}}`,
		"HTTPRoute": `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a, namespace: demo}, spec: {parentRefs: [{name: g}]}}`,
	} {
		whole := object(t, spec)
		kept, err := kube.Transform(map[schema.GroupVersionKind]limits.Bound{appService: 0})(kube.Typed(whole))
		require.NoError(t, err)
		if got := routePathsOf(kept.(client.Object), most); len(RoutePathsOf(whole)) != 1 || len(got) != 0 {
			t.Errorf("%s: it has the paths %v, want none", name, words(got))
		}
	}
}
