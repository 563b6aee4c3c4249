package hosts

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A claim in short: host, then how its path is matched and the path.
func claim(host string, match Match, path string, change ...func(*Claim)) Claim {
	c := Claim{Host: host, Entry: gateway, Path: pathOf(match, path)}
	for _, apply := range change {
		apply(&c)
	}
	return c
}

var gateway = Entry{Kind: "Gateway", Name: "infra/public"}

func method(name string) func(*Claim)     { return func(c *Claim) { c.Method = name } }
func conditions(text string) func(*Claim) { return func(c *Claim) { c.Conditions = text } }
func at(entry Entry) func(*Claim)         { return func(c *Claim) { c.Entry = entry } }

func TestOverlap(t *testing.T) {
	const host, other = "a.example.com", "b.example.com"
	nginx, anyClass := Entry{Kind: "Ingress", Name: "nginx"}, Entry{Kind: "Ingress"}
	listener := func(name string, port int64) Entry {
		return Entry{Kind: gateway.Kind, Name: gateway.Name, Listener: name, Port: port}
	}
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
		"an exact path and another":              {claim(host, Exact, "/x"), claim(host, Exact, "/x/"), false, false},
		"an exact path and a longer prefix":      {claim(host, Exact, "/x"), claim(host, Prefix, "/x/y"), false, false},
		"a pattern and all":                      {claim(host, Pattern, "/x/.*"), claim(host, Prefix, "/"), true, false},
		"a pattern and a path that it may match": {claim(host, Pattern, "/x/.*"), claim(host, Exact, "/x/y"), true, false},
		"a pattern in another case":              {claim(host, Pattern, "/X/.*"), claim(host, Exact, "/x/y"), true, false},
		"a pattern and a path elsewhere":         {claim(host, Pattern, "/x/.*"), claim(host, Prefix, "/y"), false, false},
		"a pattern of alternatives":              {claim(host, Pattern, "/x|/y"), claim(host, Prefix, "/y"), true, false},
		"a pattern that starts at the start":     {claim(host, Pattern, "^/x"), claim(host, Prefix, "/y"), false, false},
		"a pattern that matches anywhere":        {claim(host, Pattern, "x"), claim(host, Prefix, "/y"), true, false},
		"a pattern of another dialect":           {claim(host, Pattern, "/x(?!y)"), claim(host, Prefix, "/z"), true, false},
		"a pattern that is a path":               {claim(host, Pattern, "/x"), claim(host, Prefix, "/x"), true, true},
		"two patterns":                           {claim(host, Pattern, "/x.*"), claim(host, Pattern, "/y.*"), false, false},
		"another method":                         {claim(host, Prefix, "/", method("GET")), claim(host, Prefix, "/", method("PUT")), false, false},
		"one method and all":                     {claim(host, Prefix, "/", method("GET")), claim(host, Prefix, "/"), true, false},
		"a header":                               {claim(host, Prefix, "/", conditions("header x=1")), claim(host, Prefix, "/"), true, false},
		"another value of a header":              {claim(host, Prefix, "/", conditions("header x=1")), claim(host, Prefix, "/", conditions("header x=2")), false, false},
		"another header":                         {claim(host, Prefix, "/", conditions("header x=1")), claim(host, Prefix, "/", conditions("header y=2")), true, false},
		"one header of two":                      {claim(host, Prefix, "/", conditions("header x=1\nheader y=1")), claim(host, Prefix, "/", conditions("header y=2\nheader z=1")), false, false},
		"a header by pattern":                    {claim(host, Prefix, "/", conditions("header x~1")), claim(host, Prefix, "/", conditions("header x=2")), true, false},
		"a parameter of the name of a header":    {claim(host, Prefix, "/", conditions("query x=1")), claim(host, Prefix, "/", conditions("header x=2")), true, false},
		"an Ingress and a route of a host":       {claim(host, Prefix, "/"), claim(host, Prefix, "/", at(nginx)), true, true},
		"all hosts of a gateway and one":         {claim("", Prefix, "/"), claim(host, Prefix, "/"), true, false},
		"all hosts of a gateway":                 {claim("", Prefix, "/"), claim("", Prefix, "/"), true, true},
		"all hosts of another gateway":           {claim("", Prefix, "/"), claim("", Prefix, "/", at(Entry{Kind: "Gateway", Name: "infra/other"})), false, false},
		"all hosts of a listener and another":    {claim("", Prefix, "/", at(listener("a", 0))), claim("", Prefix, "/", at(listener("b", 0))), false, false},
		"all hosts of a listener and of all":     {claim("", Prefix, "/", at(listener("a", 0))), claim("", Prefix, "/"), true, true},
		"all hosts of two ports":                 {claim("", Prefix, "/", at(listener("", 80))), claim("", Prefix, "/", at(listener("", 81))), false, false},
		"all hosts of a gateway and an Ingress":  {claim("", Prefix, "/"), claim(host, Prefix, "/", at(nginx)), false, false},
		"a default backend and another class":    {claim("", Prefix, "/", at(nginx)), claim("", Prefix, "/", at(Entry{Kind: "Ingress", Name: "traefik"})), false, false},
		"a default backend and any class":        {claim("", Prefix, "/", at(nginx)), claim("", Prefix, "/", at(anyClass)), true, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for _, pair := range [][2]Claim{{test.a, test.b}, {test.b, test.a}} {
				if got := Overlap(pair[0], pair[1]); got != test.overlap {
					t.Errorf("Overlap(%s, %s): got %t", pair[0], pair[1], got)
				}
				if got := Same(pair[0], pair[1]); got != test.same {
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
	entry := Entry{Kind: "Gateway", Name: pick("infra/public", "infra/other"), Listener: pick("", "", "l", "m")}
	if random.IntN(3) == 0 {
		entry = Entry{Kind: "Ingress", Name: pick("", "nginx", "traefik")}
	}
	path := pathOf(Match(pick("Exact", "Prefix", "Prefix", "Pattern")), pick("/", "/x", "/x/y", "/z"))
	return Claim{Host: host, Entry: entry, Path: path, Method: pick("", "", "GET", "PUT"), Conditions: pick("", "", "header x=1", "header x=2")}
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
		mine := &stake{owner: owner{ingressKind, named("one", "a")}, place: place{namespace: "one"}, claims: []Claim{a}}
		theirs := &stake{owner: owner{ingressKind, named("two", "b")}, place: place{namespace: "two"}, claims: []Claim{b}}
		all := newIndex()
		all.add(mine)
		all.add(theirs)
		found := false
		all.rivals(mine, a, shares, func(*stake) { found = true })
		want := mine.contradicts(a, b, theirs, shares)
		if found != want {
			t.Fatalf("%+v and %+v: found %t, contradiction %t", a, b, found, want)
		}
		if want {
			overlapping++
		}
		if Overlap(a, b) && !want || Same(a, b) && !Overlap(a, b) {
			t.Fatalf("%+v and %+v: same %t, overlap %t, contradiction %t", a, b, Same(a, b), Overlap(a, b), want)
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

func TestHowPatternsBegin(t *testing.T) {
	cases := map[string]struct{ pattern, want string }{
		"a path":                            {"/shop", "/shop"},
		"a part of a path":                  {"/shop/.*", "/shop/"},
		"from the start":                    {"^/shop/", "/shop/"},
		"in capitals":                       {"/Shop", "/shop"},
		"in groups":                         {"/(shop)/(?:a(b))c.*", "/shop/abc"},
		"an empty group":                    {"/a()b", "/ab"},
		"alternatives":                      {"/shop|/show", "/sho"},
		"alternatives that differ at once":  {"/shop|x", ""},
		"a letter again and again":          {"/a{3}b", "/"},
		"a letter that may be missing":      {"/ab?c", "/a"},
		"a letter in any case":              {"/a(?i)b", "/a"},
		"anywhere in a path":                {"shop", ""},
		"of another dialect":                {"/a(?!b)", ""},
		"nothing":                           {"", ""},
		"repetitions that make it too long": {"/shop" + strings.Repeat(`(x{1000})`, 10_000), ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := literalStart(test.pattern); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What a pattern takes goes with its length, not with what it repeats.
func TestPatternsTakeNoMoreThanTheyAreLong(t *testing.T) {
	bytes := func(pattern string) int64 {
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				literalStart(pattern)
			}
		}).AllocedBytesPerOp()
	}
	once, often := bytes("/"+strings.Repeat("x{1}y", 200)), bytes("/"+strings.Repeat("x{1000}", 146))
	if often > 10*once {
		t.Errorf("a path of 1,023 letters takes %d bytes if it repeats, and %d if it does not", often, once)
	}
}
