package packaging

import (
	"bytes"
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

// mostInCycles is how many files of a folder use one another in a circle, so that none of them can be read before the others; 0 for any other folder.
// The numbers only become smaller.
var mostInCycles = map[string]int{
	"internal/engine/chart":              2,
	"internal/engine/chart/rbac":         2,
	"internal/plugin":                    4,
	"internal/plugin/history":            4,
	"internal/plugin/importer/proof":     4,
	"internal/plugin/ingressroute":       3,
	"internal/plugin/lint":               3,
	"internal/operator/rollout":          2,
	"internal/engine/watch":              2,
	"internal/operator/hosts":            4,
	"internal/engine/kube/gateway":       3,
	"internal/engine/kube/livestate":     2,
	"internal/engine/kube/readywhen":     2,
	"internal/engine/kube/reference":     3,
	"internal/operator/metrics":          2,
	"internal/operator":                  4,
	"internal/operator/policy":           12,
	"internal/engine/render":             14,
	"internal/engine/render/defaults":    2,
	"internal/engine/postrender":         5,
	"internal/engine/render/podtemplate": 3,
	"internal/operator/status":           11,
	"internal/operator/status/diagnose":  16,
}

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
		for file := range uses {
			if leadsTo(uses, file, file, map[string]bool{}) {
				found = append(found, file)
			}
		}
		switch most := mostInCycles[folder]; {
		case len(found) > most:
			slices.Sort(found)
			t.Errorf("%s has %d files that use one another in a circle, and had %d: move what they share into a file below both: %s", folder, len(found), most, strings.Join(found, " "))
		case len(found) < most:
			t.Errorf("%s has only %d files that use one another in a circle: write that number into mostInCycles", folder, len(found))
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

// leadsTo reports whether a file leads to another one by at least one use.
func leadsTo(uses map[string]map[string]bool, from, to string, seen map[string]bool) bool {
	for next := range uses[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if leadsTo(uses, next, to, seen) {
				return true
			}
		}
	}
	return false
}
