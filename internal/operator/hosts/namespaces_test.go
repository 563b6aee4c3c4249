package hosts

import (
	"testing"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// A host belongs to one namespace. Each case is something by which another namespace could get requests of a host.
func TestContradictionsBetweenNamespaces(t *testing.T) {
	const host = "a.example.com"
	ingressOf := func(class string) func(*RoutePath) { return at(Entry{Kind: "Ingress", Name: class}) }
	cases := map[string]struct {
		a, b          RoutePath
		apart, shared bool // whether they conflict from two namespaces, and if the host is shared
		beside        bool // in one namespace
	}{
		"the same":                              {a: routePath(host, Prefix, "/"), b: routePath(host, Prefix, "/"), apart: true, shared: true, beside: true},
		"a longer path":                         {a: routePath(host, Prefix, "/app"), b: routePath(host, Prefix, "/app/login"), apart: true, shared: true},
		"all paths under one":                   {a: routePath(host, Prefix, "/app"), b: routePath(host, Prefix, "/"), apart: true, shared: true},
		"a path beside":                         {a: routePath(host, Prefix, "/app"), b: routePath(host, Prefix, "/shop"), apart: true},
		"a path in percent encoding":            {a: routePath(host, Prefix, "/app"), b: routePath(host, Exact, "/%61pp"), apart: true, shared: true},
		"a path with parts that mean nothing":   {a: routePath(host, Prefix, "/app"), b: routePath(host, Exact, "/x/..//./app"), apart: true, shared: true},
		"a regular expression":                  {a: routePath(host, Prefix, "/app"), b: routePath(host, Pattern, "/.*"), apart: true, shared: true},
		"a regular expression for another path": {a: routePath(host, Prefix, "/app"), b: routePath(host, Pattern, "/shop/.*"), apart: true},
		"a wildcard over it":                    {a: routePath(host, Prefix, "/"), b: routePath("*.example.com", Prefix, "/"), apart: true, shared: true},
		"a wildcard over it, on another path":   {a: routePath(host, Prefix, "/app"), b: routePath("*.example.com", Prefix, "/shop"), apart: true},
		"a wider wildcard":                      {a: routePath("*.example.com", Prefix, "/"), b: routePath("*.com", Prefix, "/x"), apart: true, shared: true},
		"another host":                          {a: routePath(host, Prefix, "/"), b: routePath("b.example.com", Prefix, "/")},
		"another class":                         {a: routePath(host, Prefix, "/a", ingressOf("nginx")), b: routePath(host, Prefix, "/b", ingressOf("other")), apart: true},
		"an Ingress and a route":                {a: routePath(host, Prefix, "/a", ingressOf("nginx")), b: routePath(host, Prefix, "/b"), apart: true},
		"all hosts of the gateway":              {a: routePath(host, Prefix, "/a"), b: routePath("", Prefix, "/b")},
	}
	shares := rulesOf{shared: []string{host, "*.example.com", "*.com", ""}}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			mine := candidateIn("one", "a")
			for _, pair := range [][2]RoutePath{{test.a, test.b}, {test.b, test.a}} {
				for _, check := range []struct {
					other *candidate
					rules Rules
					want  bool
				}{{candidateIn("two", "b"), Free{}, test.apart}, {candidateIn("two", "b"), shares, test.shared}, {candidateIn("one", "b"), Free{}, test.beside}} {
					check.other.paths = []RoutePath{pair[1]}
					if got := mine.conflictsWith(pair[0], check.other, check.rules); got != check.want {
						t.Errorf("%s and %s: got %t, want %t", pair[0], pair[1], got, check.want)
					}
				}
			}
		})
	}
}

// One of two that shares a host is not enough.
func TestAHostIsSharedByBoth(t *testing.T) {
	mine, theirs := candidateIn("one", "a"), candidateIn("two", "b")
	a, b := routePath(shop, Prefix, "/a"), routePath("*.example.com", Prefix, "/b")
	mine.paths, theirs.paths = []RoutePath{a}, []RoutePath{b}
	for _, shared := range [][]string{{shop}, {"*.example.com"}} {
		if rules := (rulesOf{shared: shared}); !mine.conflictsWith(a, theirs, rules) || !theirs.conflictsWith(b, mine, rules) {
			t.Errorf("%s is enough", shared)
		}
	}
}

func candidateIn(namespace, name string) *candidate {
	return &candidate{owner: owner{appService.GroupKind(), named(namespace, name)}, route: routeKey{kube.Key{Name: name}, namespace}}
}
