package importer

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestGolden imports each file of testdata, and compares with FILE.golden beside it: AppServices, and their notes. A new case is a new file:
// -update writes the rest, for you to review.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no case (error %v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			t.Parallel()
			compareGolden(t, strings.TrimSuffix(file, ".yaml")+".golden", printed(t, imported(t, readFile(t, file))))
		})
	}
}

// imported imports a manifest.
func imported(t testing.TB, text []byte) *Import {
	t.Helper()
	i := importer(t)
	made, err := i.Objects(t.Context(), parsed(t, text), "")
	if err != nil {
		return &Import{Failed: []read.Failure{{Object: "nothing", Err: err}}}
	}
	for _, result := range made.Results {
		explained(t, result.Notes)
		if err := i.Check(result.Resource); err != nil {
			t.Errorf("the API server would refuse %s: %v", read.Describe(result.Resource), err)
		}
	}
	explained(t, made.Left)
	return made
}

// printed is what people read.
func printed(t testing.TB, made *Import) string {
	t.Helper()
	var out strings.Builder
	comments := func(notes []read.Note) {
		for _, note := range notes {
			out.WriteString("# " + note.String() + "\n")
		}
	}
	for _, result := range made.Results {
		out.WriteString("---\n")
		comments(result.Notes)
		text, err := yaml.Marshal(result.Resource.Object)
		require.NoError(t, err)
		out.Write(text)
	}
	if len(made.Left) > 0 {
		out.WriteString("---\n")
		comments(made.Left)
	}
	for _, failure := range made.Failed {
		out.WriteString("---\n# " + failure.Object + " is not imported: " + failure.Err.Error() + "\n")
	}
	return out.String()
}

func compareGolden(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing: run the test with -update and review what it writes", file)
	}
	require.NoError(t, err)
	if got != string(want) {
		t.Errorf("it is not as in %s; if it is as it should be, run the test with -update\n%s", file, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	line := func(lines []string) string {
		if n < len(lines) {
			return lines[n]
		}
		return "(its end)"
	}
	return "-want " + line(a) + "\n+got  " + line(b)
}
