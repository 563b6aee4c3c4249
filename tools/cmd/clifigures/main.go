// Command clifigures sums up what the parts of make test-cli found; see tools/figures.
package main

import "github.com/example/appservice-operator/tools/figures"

// wanted are the figures of the summary, in its order.
var wanted = []figures.Figure{
	{Name: "commands", Part: "examples", Holds: figures.AtLeast(1), Wanted: "at least 1"},
	{Name: "examples_run", Part: "examples", Holds: func(v figures.Value, all map[string]figures.Value) bool {
		return v.N >= all["commands"].N
	}, Wanted: "as many as there are commands: each has an example"},
	{Name: "render_equal", Part: "render", Holds: figures.All, Wanted: "all: what the command renders is what the operator applies"},
	{Name: "lint_rules", Part: "lint", Holds: figures.AtLeast(1), Wanted: "at least 1"},
	{Name: "adopted", Part: "adoption", Holds: figures.AtLeast(4), Wanted: "at least 4: what was applied, what Helm installed, what has all kinds, and a StatefulSet"},
	{Name: "restarted", Part: "adoption", Holds: func(v figures.Value, _ map[string]figures.Value) bool { return v.N == 0 }, Wanted: "0: no pod of what is adopted"},
}

func main() { figures.Main("clifigures", "CLI", "bin/cli", wanted) }
