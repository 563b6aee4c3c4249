package hosts

import (
	"math/rand/v2"
	"testing"
)

// A route path in short: host, then how its path is matched and the path.
func routePath(host string, match Match, path string, change ...func(*RoutePath)) RoutePath {
	p := RoutePath{Host: host, Entry: public, Path: pathOf(match, path)}
	for _, apply := range change {
		apply(&p)
	}
	return p
}

var public = Entry{Kind: "Gateway", Name: "infra/public"}

func at(entry Entry) func(*RoutePath) { return func(c *RoutePath) { c.Entry = entry } }

func TestOverlap(t *testing.T) {
	const host, other = "a.example.com", "b.example.com"
	nginx, anyClass := Entry{Kind: "Ingress", Name: "nginx"}, Entry{Kind: "Ingress"}
	cases := map[string]struct {
		a, b          RoutePath
		overlap, same bool
	}{
		"equal":                                  {routePath(host, Prefix, "/"), routePath(host, Prefix, "/"), true, true},
		"another host":                           {routePath(host, Prefix, "/"), routePath(other, Prefix, "/"), false, false},
		"the end of a host":                      {routePath("a.com", Prefix, "/"), routePath("ba.com", Prefix, "/"), false, false},
		"a wildcard and a host":                  {routePath("*.example.com", Prefix, "/"), routePath(host, Prefix, "/"), true, false},
		"a wildcard and a host below":            {routePath("*.example.com", Prefix, "/"), routePath("x."+host, Prefix, "/"), true, false},
		"a wildcard and its domain":              {routePath("*.example.com", Prefix, "/"), routePath("example.com", Prefix, "/"), false, false},
		"a wildcard and a narrower one":          {routePath("*.com", Prefix, "/"), routePath("*.example.com", Prefix, "/"), true, false},
		"two wildcards":                          {routePath("*.a.com", Prefix, "/"), routePath("*.b.com", Prefix, "/"), false, false},
		"other paths":                            {routePath(host, Prefix, "/x"), routePath(host, Prefix, "/y"), false, false},
		"a path that begins alike":               {routePath(host, Prefix, "/x"), routePath(host, Prefix, "/xy"), false, false},
		"a path below":                           {routePath(host, Prefix, "/x"), routePath(host, Prefix, "/x/y"), true, false},
		"a path and all":                         {routePath(host, Prefix, "/x"), routePath(host, Prefix, "/"), true, false},
		"a prefix with a slash at its end":       {routePath(host, Prefix, "/x/"), routePath(host, Prefix, "/x"), true, true},
		"an exact path and all":                  {routePath(host, Exact, "/x"), routePath(host, Prefix, "/"), true, false},
		"an exact path and its prefix":           {routePath(host, Exact, "/x"), routePath(host, Prefix, "/x"), true, false},
		"a pattern and all":                      {routePath(host, Pattern, "/x/.*"), routePath(host, Prefix, "/"), true, false},
		"a pattern and a path that it may match": {routePath(host, Pattern, "/x/.*"), routePath(host, Exact, "/x/y"), true, false},
		"a pattern in another case":              {routePath(host, Pattern, "/X/.*"), routePath(host, Exact, "/x/y"), true, false},
		"a pattern and a path elsewhere":         {routePath(host, Pattern, "/x/.*"), routePath(host, Prefix, "/y"), false, false},
		"a pattern of alternatives":              {routePath(host, Pattern, "/x|/y"), routePath(host, Prefix, "/y"), true, false},
		"a pattern that starts at the start":     {routePath(host, Pattern, "^/x"), routePath(host, Prefix, "/y"), false, false},
		"a pattern that matches anywhere":        {routePath(host, Pattern, "x"), routePath(host, Prefix, "/y"), true, false},
		"a pattern of another dialect":           {routePath(host, Pattern, "/x(?!y)"), routePath(host, Prefix, "/z"), true, false},
		"a pattern that is a path":               {routePath(host, Pattern, "/x"), routePath(host, Prefix, "/x"), true, true},
		"two patterns":                           {routePath(host, Pattern, "/x.*"), routePath(host, Pattern, "/y.*"), true, false},
		"an Ingress and a route of a host":       {routePath(host, Prefix, "/"), routePath(host, Prefix, "/", at(nginx)), true, true},
		"all hosts of a gateway and one":         {routePath("", Prefix, "/"), routePath(host, Prefix, "/"), false, false},
		"all hosts of a gateway":                 {routePath("", Prefix, "/"), routePath("", Prefix, "/"), true, true},
		"all hosts of another gateway":           {routePath("", Prefix, "/"), routePath("", Prefix, "/", at(Entry{Kind: "Gateway", Name: "infra/other"})), false, false},
		"all hosts of a gateway and an Ingress":  {routePath("", Prefix, "/"), routePath(host, Prefix, "/", at(nginx)), false, false},
		"a default backend and another class":    {routePath("", Prefix, "/", at(nginx)), routePath("", Prefix, "/", at(Entry{Kind: "Ingress", Name: "traefik"})), false, false},
		"a default backend and any class":        {routePath("", Prefix, "/", at(nginx)), routePath("", Prefix, "/", at(anyClass)), true, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for _, pair := range [][2]RoutePath{{test.a, test.b}, {test.b, test.a}} {
				if got := pair[0].overlaps(pair[1]); got != test.overlap {
					t.Errorf("Overlap(%s, %s): got %t", pair[0], pair[1], got)
				}
				if got := pair[0].same(pair[1]); got != test.same {
					t.Errorf("Same(%s, %s): got %t", pair[0], pair[1], got)
				}
			}
		})
	}
}

// anyRoutePath makes a path of few parts, so that many overlap.
func anyRoutePath(random *rand.Rand) RoutePath {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	host := pick("", "a.example.com", "b.example.com", "*.example.com", "*.a.example.com", "x.a.example.com", "*.com", "example.com", "com")
	entry := Entry{Kind: "Gateway", Name: pick("infra/public", "infra/other")}
	if random.IntN(3) == 0 {
		entry = Entry{Kind: "Ingress", Name: pick("", "nginx", "traefik")}
	}
	path := pathOf(Match(pick("Exact", "Prefix", "Prefix", "Pattern")), pick("/", "/x", "/x/y", "/z"))
	return RoutePath{Host: host, Entry: entry, Path: path}
}

func TestTheIndexFindsAllThatOverlaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	overlapping := 0
	for range 20_000 {
		a, b := anyRoutePath(random), anyRoutePath(random)
		shares := rulesOf{}
		if random.IntN(2) == 0 {
			shares.shared = []string{"a.example.com", "*.example.com"}
		}
		mine, theirs := candidateIn("one", "a"), candidateIn("two", "b")
		mine.paths, theirs.paths = []RoutePath{a}, []RoutePath{b}
		all := newHostIndex()
		all.add(mine)
		all.add(theirs)
		found := false
		for range all.rivals(mine, a, shares) {
			found = true
		}
		want := mine.conflictsWith(a, theirs, shares)
		if found != want {
			t.Fatalf("%+v and %+v: found %t, conflict %t", a, b, found, want)
		}
		if want {
			overlapping++
		}
		if a.overlaps(b) && !want || a.same(b) && !a.overlaps(b) {
			t.Fatalf("%+v and %+v: same %t, overlap %t, conflict %t", a, b, a.same(b), a.overlaps(b), want)
		}
		all.remove(theirs)
		all.remove(mine)
		if len(all.buckets)+all.hosts.Len() != 0 {
			t.Fatalf("the index keeps %v", all)
		}
	}
	if overlapping < 1000 {
		t.Errorf("only %d pairs overlapped", overlapping)
	}
}

func (p RoutePath) overlaps(other RoutePath) bool {
	return p.hostsOverlap(other) && p.Path.overlaps(other.Path)
}
