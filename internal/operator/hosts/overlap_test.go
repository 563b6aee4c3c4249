package hosts

import (
	"math/rand/v2"
	"testing"
)

// A claim in short: host, then how its path is matched and the path.
func claim(host string, match Match, path string, change ...func(*Claim)) Claim {
	c := Claim{Host: host, Entry: public, Path: pathOf(match, path)}
	for _, apply := range change {
		apply(&c)
	}
	return c
}

var public = Entry{Kind: "Gateway", Name: "infra/public"}

func at(entry Entry) func(*Claim) { return func(c *Claim) { c.Entry = entry } }

func TestOverlap(t *testing.T) {
	const host, other = "a.example.com", "b.example.com"
	nginx, anyClass := Entry{Kind: "Ingress", Name: "nginx"}, Entry{Kind: "Ingress"}
	cases := map[string]struct {
		a, b          Claim
		overlap, same bool
	}{
		"equal":                                  {claim(host, Prefix, "/"), claim(host, Prefix, "/"), true, true},
		"another host":                           {claim(host, Prefix, "/"), claim(other, Prefix, "/"), false, false},
		"the end of a host":                      {claim("a.com", Prefix, "/"), claim("ba.com", Prefix, "/"), false, false},
		"a wildcard and a host":                  {claim("*.example.com", Prefix, "/"), claim(host, Prefix, "/"), true, false},
		"a wildcard and a host below":            {claim("*.example.com", Prefix, "/"), claim("x."+host, Prefix, "/"), true, false},
		"a wildcard and its domain":              {claim("*.example.com", Prefix, "/"), claim("example.com", Prefix, "/"), false, false},
		"a wildcard and a narrower one":          {claim("*.com", Prefix, "/"), claim("*.example.com", Prefix, "/"), true, false},
		"two wildcards":                          {claim("*.a.com", Prefix, "/"), claim("*.b.com", Prefix, "/"), false, false},
		"other paths":                            {claim(host, Prefix, "/x"), claim(host, Prefix, "/y"), false, false},
		"a path that begins alike":               {claim(host, Prefix, "/x"), claim(host, Prefix, "/xy"), false, false},
		"a path below":                           {claim(host, Prefix, "/x"), claim(host, Prefix, "/x/y"), true, false},
		"a path and all":                         {claim(host, Prefix, "/x"), claim(host, Prefix, "/"), true, false},
		"a prefix with a slash at its end":       {claim(host, Prefix, "/x/"), claim(host, Prefix, "/x"), true, true},
		"an exact path and all":                  {claim(host, Exact, "/x"), claim(host, Prefix, "/"), true, false},
		"an exact path and its prefix":           {claim(host, Exact, "/x"), claim(host, Prefix, "/x"), true, false},
		"a pattern and all":                      {claim(host, Pattern, "/x/.*"), claim(host, Prefix, "/"), true, false},
		"a pattern and a path that it may match": {claim(host, Pattern, "/x/.*"), claim(host, Exact, "/x/y"), true, false},
		"a pattern in another case":              {claim(host, Pattern, "/X/.*"), claim(host, Exact, "/x/y"), true, false},
		"a pattern and a path elsewhere":         {claim(host, Pattern, "/x/.*"), claim(host, Prefix, "/y"), false, false},
		"a pattern of alternatives":              {claim(host, Pattern, "/x|/y"), claim(host, Prefix, "/y"), true, false},
		"a pattern that starts at the start":     {claim(host, Pattern, "^/x"), claim(host, Prefix, "/y"), false, false},
		"a pattern that matches anywhere":        {claim(host, Pattern, "x"), claim(host, Prefix, "/y"), true, false},
		"a pattern of another dialect":           {claim(host, Pattern, "/x(?!y)"), claim(host, Prefix, "/z"), true, false},
		"a pattern that is a path":               {claim(host, Pattern, "/x"), claim(host, Prefix, "/x"), true, true},
		"two patterns":                           {claim(host, Pattern, "/x.*"), claim(host, Pattern, "/y.*"), true, false},
		"an Ingress and a route of a host":       {claim(host, Prefix, "/"), claim(host, Prefix, "/", at(nginx)), true, true},
		"all hosts of a gateway and one":         {claim("", Prefix, "/"), claim(host, Prefix, "/"), false, false},
		"all hosts of a gateway":                 {claim("", Prefix, "/"), claim("", Prefix, "/"), true, true},
		"all hosts of another gateway":           {claim("", Prefix, "/"), claim("", Prefix, "/", at(Entry{Kind: "Gateway", Name: "infra/other"})), false, false},
		"all hosts of a gateway and an Ingress":  {claim("", Prefix, "/"), claim(host, Prefix, "/", at(nginx)), false, false},
		"a default backend and another class":    {claim("", Prefix, "/", at(nginx)), claim("", Prefix, "/", at(Entry{Kind: "Ingress", Name: "traefik"})), false, false},
		"a default backend and any class":        {claim("", Prefix, "/", at(nginx)), claim("", Prefix, "/", at(anyClass)), true, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for _, pair := range [][2]Claim{{test.a, test.b}, {test.b, test.a}} {
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

// anyClaim makes a claim of few parts, so that many overlap.
func anyClaim(random *rand.Rand) Claim {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	host := pick("", "a.example.com", "b.example.com", "*.example.com", "*.a.example.com", "x.a.example.com", "*.com", "example.com", "com")
	entry := Entry{Kind: "Gateway", Name: pick("infra/public", "infra/other")}
	if random.IntN(3) == 0 {
		entry = Entry{Kind: "Ingress", Name: pick("", "nginx", "traefik")}
	}
	path := pathOf(Match(pick("Exact", "Prefix", "Prefix", "Pattern")), pick("/", "/x", "/x/y", "/z"))
	return Claim{Host: host, Entry: entry, Path: path}
}

func TestTheIndexFindsAllThatOverlaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	overlapping := 0
	for range 20_000 {
		a, b := anyClaim(random), anyClaim(random)
		shares := rulesOf{}
		if random.IntN(2) == 0 {
			shares.shared = []string{"a.example.com", "*.example.com"}
		}
		mine, theirs := stakeIn("one", "a"), stakeIn("two", "b")
		mine.claims, theirs.claims = []Claim{a}, []Claim{b}
		all := newIndex()
		all.add(mine)
		all.add(theirs)
		found := false
		for range all.rivals(mine, a, shares) {
			found = true
		}
		want := mine.against(a, theirs, shares)
		if found != want {
			t.Fatalf("%+v and %+v: found %t, contradiction %t", a, b, found, want)
		}
		if want {
			overlapping++
		}
		if a.overlaps(b) && !want || a.same(b) && !a.overlaps(b) {
			t.Fatalf("%+v and %+v: same %t, overlap %t, contradiction %t", a, b, a.same(b), a.overlaps(b), want)
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

func (c Claim) overlaps(other Claim) bool {
	return c.hostsOverlap(other) && c.Path.overlaps(other.Path)
}
