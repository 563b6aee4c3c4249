package packaging

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

// mostInCycles is how many files of a folder may use one another in a circle, so that none of them can be read before the others. It only
// becomes smaller.
var mostInCycles = map[string]int{}

// Files of a folder that use one another in a circle have to be read together.
func TestFilesThatUseOneAnother(t *testing.T) {
	root := files.Root(t)
	var out bytes.Buffer
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{range .GoFiles}}{{.}} {{end}}", "./internal/...")
	list.Dir, list.Stdout, list.Stderr = root, &out, os.Stderr
	require.NoError(t, list.Run())
	exports, packages := map[string]string{}, map[string][]string{}
	for line := range strings.Lines(out.String()) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		exports[parts[0]] = parts[1]
		if folder, err := filepath.Rel(root, parts[2]); err == nil && strings.HasPrefix(folder, "internal"+string(filepath.Separator)) {
			packages[folder] = strings.Fields(parts[3])
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		uses := usesOf(t, set, imports, filepath.Join(root, folder), packages[folder])
		var found []string
		for _, file := range slices.Sorted(maps.Keys(uses)) {
			if reaches(uses, file, file, map[string]bool{}) {
				found = append(found, file)
			}
		}
		if len(found) > 0 {
			t.Logf("%s: %d of %d: %s", folder, len(found), len(packages[folder]), strings.Join(found, " "))
		}
		if most := mostInCycles[folder]; len(found) > most {
			t.Errorf("%s has %d files that use one another in a circle, and had %d: move what they share into a file below both", folder, len(found), most)
		}
	}
}

// usesOf returns which other files of a package each file uses. A method is in the file that declares it.
func usesOf(t *testing.T, set *token.FileSet, imports types.Importer, dir string, names []string) map[string]map[string]bool {
	t.Helper()
	var parsed []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imports, Error: func(err error) { t.Error(err) }}
	checked, _ := config.Check(dir, set, parsed, info)
	in := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	uses := map[string]map[string]bool{}
	for identifier, object := range info.Uses {
		if _, isField := object.(*types.Var); isField && object.Parent() == nil || object.Pkg() != checked {
			continue // a field belongs to its type
		}
		if from, to := in(identifier.Pos()), in(object.Pos()); from != to {
			if uses[from] == nil {
				uses[from] = map[string]bool{}
			}
			uses[from][to] = true
		}
	}
	return uses
}

// reaches reports whether a file leads to another one by at least one use.
func reaches(uses map[string]map[string]bool, from, to string, seen map[string]bool) bool {
	for next := range uses[from] {
		if next == to || !seen[next] && reachesOnce(uses, next, to, seen) {
			return true
		}
	}
	return false
}

func reachesOnce(uses map[string]map[string]bool, from, to string, seen map[string]bool) bool {
	seen[from] = true
	return reaches(uses, from, to, seen)
}

var _ = fmt.Sprint
