// Command security sums up what the parts of make test-security found; see tools/figures.
package main

import "github.com/example/appservice-operator/tools/figures"

// wanted are the figures of the summary, in its order.
var wanted = []figures.Figure{
	{Name: "injections", Part: "input", Holds: figures.AtLeast(500), Wanted: "at least 500"},
	{Name: "changed", Part: "input", Holds: figures.Zero, Wanted: "0: a text became something else than text"},
	{Name: "vectors", Part: "vectors", Holds: figures.AtLeast(30), Wanted: "at least 30"},
	{Name: "blocked", Part: "vectors", Holds: func(v figures.Value, all map[string]figures.Value) bool {
		return v.N == all["vectors"].N
	}, Wanted: "as many as there are vectors"},
	{Name: "unused_rights", Part: "rights", Holds: figures.Zero, Wanted: "0: what nobody uses is not granted"},
	{Name: "forbidden", Part: "rights", Holds: figures.Zero, Wanted: "0: what the operator asks for is granted"},
}

func main() { figures.Main("security", "SECURITY", "bin/security", wanted) }
