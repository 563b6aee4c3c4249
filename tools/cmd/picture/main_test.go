package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/toolchain"
)

func TestThePictureIsUpToDate(t *testing.T) {
	root, err := toolchain.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, source))
	require.NoError(t, err)
	want, err := draw(text)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, target))
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what %s says, see make generate (-want +got):\n%s", target, source, diff)
	}
}

func TestDraw(t *testing.T) {
	const boxes = `boxes: [{name: a, at: [0, 0], width: 50, height: 40, title: "<A>"}, {name: b, at: [100, 10], width: 50, height: 40},
{name: c, at: [0, 100], width: 50, height: 40}, {name: d, at: [200, 200], width: 50, height: 40}]
`
	cases := map[string]struct {
		arrows string
		want   string // part of the picture, or of the error
		fails  bool
	}{
		"an arrow to the right is level with what both boxes share": {"arrows: [{from: a, to: b}]", `<path d="M53 25L97 25"`, false},
		"an arrow to the left":              {"arrows: [{from: b, to: a}]", `<path d="M97 25L53 25"`, false},
		"an arrow downwards":                {"arrows: [{from: a, to: c}]", `<path d="M25 43L25 97"`, false},
		"an arrow upwards":                  {"arrows: [{from: c, to: a}]", `<path d="M25 97L25 43"`, false},
		"text is escaped":                   {"", "&lt;A&gt;", false},
		"a box that is not there":           {"arrows: [{from: a, to: x}]", `"x"`, true},
		"boxes that are apart in both ways": {"arrows: [{from: a, to: d}]", "from a to d", true},
		"a field that boxes do not have":    {"hue: red", "hue", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			svg, err := draw([]byte(boxes + c.arrows))
			if (err != nil) != c.fails {
				t.Fatalf("got error %v, want one: %t", err, c.fails)
			}
			got := string(svg)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant it to contain %s", got, c.want)
			}
		})
	}
}
