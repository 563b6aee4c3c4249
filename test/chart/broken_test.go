//go:build cluster

package chart

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/lint"
	"github.com/example/appservice-operator/test/files"
)

var update = flag.Bool("update", false, "write the messages of broken charts to their golden files")

const (
	tiny   = "testdata/tiny"
	broken = "testdata/broken"
	golden = "want.txt"
)

// place is the beginning of a message that names file and line.
var place = regexp.MustCompile(`^[a-zA-Z0-9_./-]+:[0-9]+(:[0-9]+)?: `)

// Each folder of broken has the files in which a chart with a mistake differs from a sound one, and what check-chart prints of it.
func TestBrokenChartsAreNamedWithFileAndLine(t *testing.T) {
	resource := files.Objects(t, "test/chart/testdata/tiny-cr.yaml")[0]
	resource.SetNamespace("default")
	resource.SetUID(render.PlaceholderUID)
	found := func(t *testing.T, folders ...string) string {
		t.Helper()
		subject := lint.Subject{
			Files: overlaid(t, folders...), Dir: "tiny", Kind: resource.GroupVersionKind(),
			Cases: []lint.Case{{Name: "web", Resource: resource}},
		}
		var out strings.Builder
		mistakes, err := lint.Check(t.Context(), subject)
		require.NoError(t, err)
		for _, mistake := range mistakes {
			out.WriteString(mistake.String())
		}
		return out.String()
	}
	require.Empty(t, found(t, tiny), "the sound chart has mistakes")
	entries, err := os.ReadDir(broken)
	require.NoError(t, err)
	named := 0
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			folder := filepath.Join(broken, entry.Name())
			got := found(t, tiny, folder)
			file := filepath.Join(folder, golden)
			if *update {
				files.Write(t, file, got)
			}
			want, err := os.ReadFile(file)
			switch {
			case err != nil:
				t.Fatalf("run the test with -update, and review what it writes: %v", err)
			case got != string(want):
				t.Errorf("got\n%s\nwant\n%s", got, want)
			case !place.MatchString(got):
				t.Errorf("it names no file and line:\n%s", got)
			default:
				named++
			}
		})
	}
	show("broken", strconv.Itoa(len(entries)))
	show("named", strconv.Itoa(named))
}

// overlaid are the files of a chart, each folder's in place of those before.
func overlaid(t *testing.T, folders ...string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	for _, folder := range folders {
		dir := os.DirFS(folder)
		err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || name == golden {
				return err
			}
			text, err := fs.ReadFile(dir, name)
			files["tiny/"+name] = &fstest.MapFile{Data: text, Mode: 0o644}
			return err
		})
		require.NoError(t, err)
	}
	return files
}
