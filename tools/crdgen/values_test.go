package main

import (
	"strings"
	"testing"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

func TestValuesHaveWhatIsDeclared(t *testing.T) {
	const (
		hand    = "# By hand.\nsize: 1\n"
		written = begin + "# -- How pods\n#    are spread.\ntopology:\n  # -- A quantity.\n  # memory:\n  # -- Over how many zones.\n  zoneCount: 3\n" + end
	)
	parse := func(text string) *fields.File {
		file, err := fields.Parse("fields.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	declared := parse(strings.Replace(topology, "description: How pods are spread.", "description: \"How pods\\nare spread.\"", 1))
	cases := map[string]struct {
		old      string
		declared *fields.File
		want     string
	}{
		"for the first time":           {hand, declared, hand + "\n" + written},
		"again":                        {hand + "\n" + written, declared, hand + "\n" + written},
		"others before":                {hand + "\n" + begin + "old: 1\n" + end, declared, hand + "\n" + written},
		"with more behind":             {hand + "\n" + begin + end + "more: 1\n", declared, hand + "\n" + written + "more: 1\n"},
		"nothing by hand":              {"", declared, written},
		"nothing is declared":          {hand, nil, hand},
		"nothing is declared any more": {hand + "\n" + written, nil, hand},
		"one stands there by hand":     {"topology: {zoneCount: 5}\n", declared, "topology: {zoneCount: 5}\n"},
		"an object, a list and a longer text": {
			"", parse("fields:\n  o: {type: object, description: x, properties: {a: {type: string, description: x}}, default: {a: b}}\n  l: {type: array, description: x, items: {type: string}, default: [a, b]}\n  e: {$ref: AppService.spec.envs}\n"),
			begin + "# -- As AppService.spec.envs.\ne: []\n# -- x\nl:\n  - a\n  - b\n# -- x\no:\n  a: b\n" + end,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := withBlock(test.old, test.declared)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if _, err := withBlock(begin+"a: 1\n", declared); err == nil || !strings.Contains(err.Error(), "it lacks the line") {
		t.Errorf("got error %v, want one about the line at the end", err)
	}
}
