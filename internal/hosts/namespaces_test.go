package hosts

import "testing"

// A host belongs to one namespace. Each case is something by which another namespace could get requests of a host.
func TestContradictionsBetweenNamespaces(t *testing.T) {
	const host = "a.example.com"
	gatewayA := at(Entry{Kind: "Gateway", Name: "infra/public", Listener: "a"})
	gatewayB := at(Entry{Kind: "Gateway", Name: "infra/public", Listener: "b"})
	ingressOf := func(class string) func(*Claim) { return at(Entry{Kind: "Ingress", Name: class}) }
	cases := map[string]struct {
		a, b          Claim
		apart, shared bool // whether they contradict each other from two namespaces, and if the host is shared
		beside        bool // in one namespace
	}{
		"the same":                              {a: claim(host, Prefix, "/"), b: claim(host, Prefix, "/"), apart: true, shared: true, beside: true},
		"a longer path":                         {a: claim(host, Prefix, "/app"), b: claim(host, Prefix, "/app/login"), apart: true, shared: true},
		"all paths under one":                   {a: claim(host, Prefix, "/app"), b: claim(host, Prefix, "/"), apart: true, shared: true},
		"a path beside":                         {a: claim(host, Prefix, "/app"), b: claim(host, Prefix, "/shop"), apart: true},
		"a path in percent encoding":            {a: claim(host, Prefix, "/app"), b: claim(host, Exact, "/%61pp"), apart: true, shared: true},
		"a path with parts that mean nothing":   {a: claim(host, Prefix, "/app"), b: claim(host, Exact, "/x/..//./app"), apart: true, shared: true},
		"a regular expression":                  {a: claim(host, Prefix, "/app"), b: claim(host, Pattern, "/.*"), apart: true, shared: true},
		"a regular expression for another path": {a: claim(host, Prefix, "/app"), b: claim(host, Pattern, "/shop/.*"), apart: true},
		"one method":                            {a: claim(host, Prefix, "/"), b: claim(host, Prefix, "/", method("GET")), apart: true, shared: true},
		"another method":                        {a: claim(host, Prefix, "/", method("PUT")), b: claim(host, Prefix, "/", method("GET")), apart: true},
		"a header":                              {a: claim(host, Prefix, "/"), b: claim(host, Prefix, "/", conditions("header x=1")), apart: true, shared: true},
		"another value of a header":             {a: claim(host, Prefix, "/", conditions("header x=1")), b: claim(host, Prefix, "/", conditions("header x=2")), apart: true},
		"a wildcard over it":                    {a: claim(host, Prefix, "/"), b: claim("*.example.com", Prefix, "/"), apart: true, shared: true},
		"a wildcard over it, on another path":   {a: claim(host, Prefix, "/app"), b: claim("*.example.com", Prefix, "/shop"), apart: true},
		"a wider wildcard":                      {a: claim("*.example.com", Prefix, "/"), b: claim("*.com", Prefix, "/x"), apart: true, shared: true},
		"another host":                          {a: claim(host, Prefix, "/"), b: claim("b.example.com", Prefix, "/")},
		"another class":                         {a: claim(host, Prefix, "/a", ingressOf("nginx")), b: claim(host, Prefix, "/b", ingressOf("other")), apart: true},
		"an Ingress and a route":                {a: claim(host, Prefix, "/a", ingressOf("nginx")), b: claim(host, Prefix, "/b"), apart: true},
		"all hosts of the gateway":              {a: claim(host, Prefix, "/a"), b: claim("", Prefix, "/b"), apart: true},
		"all hosts of the gateway, one method":  {a: claim(host, Prefix, "/"), b: claim("", Prefix, "/", method("GET")), apart: true, shared: true},
		"all hosts of the listener":             {a: claim(host, Prefix, "/a", gatewayA), b: claim("", Prefix, "/b", gatewayA), apart: true},
		"all hosts of another listener":         {a: claim(host, Prefix, "/a", gatewayA), b: claim("", Prefix, "/b", gatewayB)},
		"all hosts of a class":                  {a: claim(host, Prefix, "/a", ingressOf("nginx")), b: claim("", Prefix, "/b", ingressOf("nginx")), apart: true},
	}
	shares := rulesOf{shared: []string{host, "*.example.com", "*.com", ""}}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			one, two := &stake{place: place{namespace: "one"}}, &stake{place: place{namespace: "two"}}
			for _, pair := range [][2]Claim{{test.a, test.b}, {test.b, test.a}} {
				for _, check := range []struct {
					other *stake
					rules Rules
					want  bool
				}{{two, Free{}, test.apart}, {two, shares, test.shared}, {one, Free{}, test.beside}} {
					if got := one.contradicts(pair[0], pair[1], check.other, check.rules); got != check.want {
						t.Errorf("%s and %s: got %t, want %t", pair[0], pair[1], got, check.want)
					}
				}
			}
		})
	}
}

// One of two that shares a host is not enough.
func TestAHostIsSharedByBoth(t *testing.T) {
	mine := &stake{place: place{namespace: "one"}}
	theirs := &stake{place: place{namespace: "two"}}
	a, b := claim(shop, Prefix, "/a"), claim("*.example.com", Prefix, "/b")
	for _, shared := range [][]string{{shop}, {"*.example.com"}} {
		if rules := (rulesOf{shared: shared}); !mine.contradicts(a, b, theirs, rules) || !theirs.contradicts(b, a, mine, rules) {
			t.Errorf("%s is enough", shared)
		}
	}
}
