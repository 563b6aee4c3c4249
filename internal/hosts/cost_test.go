package hosts

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// most is how many bytes the claims of a live route may take. The caches keep routes of 32 KiB.
const most = 128 << 10

// Everybody may write routes that name a resource as their controller. What the hosts keep of them is no multiple of what the cache keeps.
func TestLiveRoutesTakeLittleMemory(t *testing.T) {
	const routes = 20
	deep := strings.Repeat("a.", 118)
	for name, route := range map[string]func(i int) client.Object{
		"an Ingress with hosts of many labels": func(i int) client.Object {
			made := &networkingv1.Ingress{}
			for host := range 100 {
				made.Spec.Rules = append(made.Spec.Rules, networkingv1.IngressRule{Host: fmt.Sprintf("%s%d.%d.com", deep, host, i)})
			}
			made.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("Ingress"))
			return made
		},
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
				t.Fatal("the caches do not keep it: that is no attack")
			}
			h := New(nil, nil, Free{})
			before := heap()
			for _, object := range made {
				h.see(object, false)
			}
			each := (heap() - before) / routes
			t.Logf("%d KiB each", each>>10)
			if each > most {
				t.Errorf("the claims of each take %d KiB, want %d at the most", each>>10, most>>10)
			}
			for _, object := range made {
				h.see(object, true)
			}
			if len(h.live)+len(h.owners)+len(h.all.buckets)+h.all.hosts.Len() != 0 {
				t.Error("something is left of routes that are gone")
			}
		})
	}
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

// What the caches keep of routes that belong to nobody is that they are there. Such a route claims nothing, whoever labels it as ours.
func TestARouteOfWhichOnlyTheIdentityIsKnownClaimsNothing(t *testing.T) {
	for name, spec := range map[string]string{
		"Ingress":   `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: demo}, spec: {rules: [{host: a.example.com}]}}`,
		"HTTPRoute": `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a, namespace: demo}, spec: {parentRefs: [{name: g}]}}`,
	} {
		whole := object(t, spec)
		kept, err := kube.Transform(appService)(kube.Typed(whole))
		if err != nil {
			t.Fatal(err)
		}
		if got := claimsOf(kept.(client.Object), most); len(ClaimsOf(whole)) != 1 || len(got) != 0 {
			t.Errorf("%s: it claims %v, want nothing", name, words(got))
		}
	}
}
