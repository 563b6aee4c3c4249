package toolchain

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const gomod = `module example.com/tools

require (
	example.com/other v0.1.0
	example.com/tool v1.36.3 // indirect
)

replace example.com/other => example.com/other v0.2.0
`

func TestKeyChangesWithWhatGoesIntoAProgram(t *testing.T) {
	tool := program{name: "tool", path: "example.com/tool/cmd/tool", source: "example.com/tool"}
	tagged, stamped, sibling := tool, tool, tool
	tagged.tags = "extra"
	stamped.stamp = stampKubernetes
	sibling.name, sibling.path = "sibling", "example.com/tool/cmd/sibling"

	cases := map[string]struct {
		program            program
		mod, sum, compiler string
		same               bool
	}{
		"nothing":                                   {tool, gomod, "sum\n", "go1.26.8", true},
		"another program of the module":             {sibling, gomod, "sum\n", "go1.26.8", true},
		"a change of go.mod":                        {tool, gomod + "// bumped\n", "sum\n", "go1.26.8", false},
		"a change of go.sum":                        {tool, gomod, "sums\n", "go1.26.8", false},
		"another Go release":                        {tool, gomod, "sum\n", "go1.26.9", false},
		"build tags":                                {tagged, gomod, "sum\n", "go1.26.8", false},
		"a version that the linker writes":          {stamped, gomod, "sum\n", "go1.26.8", false},
		"text that moves from one file to the next": {tool, gomod + "s", "um\n", "go1.26.8", false},
	}
	first := pinIn(t, tool, gomod, "sum\n", "go1.26.8")
	if first.version != "v1.36.3" || len(first.key) != 12 {
		t.Fatalf("got %+v, want version v1.36.3 and a key of 12 digits", first)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := pinIn(t, tc.program, tc.mod, tc.sum, tc.compiler)
			if (got.key == first.key) != tc.same {
				t.Errorf("got key %s, first was %s, want the same: %t", got.key, first.key, tc.same)
			}
		})
	}
}

func pinIn(t *testing.T, p program, mod, sum, compiler string) pin {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), mod)
	write(t, filepath.Join(dir, "go.sum"), sum)
	got, err := pinOf(p, dir, compiler)
	require.NoError(t, err)
	return got
}

func TestPinNeedsTheRequirement(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), gomod)
	if _, err := pinOf(program{name: "tool", source: "example.com/absent"}, dir, "go1.26.8"); err == nil {
		t.Error("no error for a go.mod that does not pin the program")
	}
}

func TestFlags(t *testing.T) {
	kubernetes := program{source: "k8s.io/kubernetes", stamp: stampKubernetes}
	want := []string{"-trimpath", "-ldflags", "-s -w" +
		" -X k8s.io/component-base/version.gitVersion=v1.36.3" +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"}
	if got := flags(kubernetes, "v1.36.3"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
