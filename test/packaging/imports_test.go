package packaging

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

// mostFolders is the number of folders in internal/ that a newcomer can still read as a list.
const mostFolders = 14

// arrows are the imports that must not exist. Folders stand for all packages in them. Tests of packages may import
// anything.
var arrows = []struct {
	from, to     []string
	but, besides []string // of from, of to
	why          string
}{
	{
		from: []string{""}, to: []string{"internal/plugin"},
		but: []string{"internal/plugin", "cmd/kubectl-appservice", "test", "tools"},
		why: "the manager does not contain the command line",
	},
	{
		from: []string{"internal/engine"}, to: []string{"internal/operator", "internal/plugin"},
		why: "the engine makes releases of any kind from a chart, and knows nothing of what makes this operator",
	},
	{
		from: []string{"internal/engine/render", "internal/engine/values", "internal/engine/postrender", "internal/engine/chart", "internal/engine/kube"},
		to:   []string{"internal/engine/release", "internal/engine/watch", "internal/engine/queue"},
		why:  "rendering and what it stands on are the same for the operator and for commands without a cluster",
	},
	{
		from: []string{"internal/engine/postrender", "internal/engine/values"}, to: []string{"internal/engine/render"},
		besides: []string{"internal/engine/render/typecheck"},
		why:     "render puts values, templates and hooks together, never the other way round",
	},
	{
		from:    []string{"internal/engine/kube"},
		to:      []string{"internal/engine"},
		besides: []string{"internal/engine/kube", "internal/engine/text", "internal/engine/digest"},
		why:     "kube knows objects of any kind, and everything else stands on it",
	},
	{
		from: []string{""}, to: []string{"internal/operator"}, but: []string{"internal/operator", "cmd/manager", "test"},
		besides: []string{"internal/operator/policy", "internal/operator/hosts", "internal/operator/status", "internal/operator/metrics"},
		why:     "only the manager assembles and reconciles; commands predict with the rules of policy, hosts and status",
	},
	{
		from: []string{"internal/plugin/importer/proof"}, to: []string{"api", "internal"},
		why: "what proves the translation shares no code with it",
	},
	{
		from: []string{"internal/plugin/importer/read"}, to: []string{"internal/plugin/importer"},
		why: "objects are read before anything is made of them",
	},
	{
		from: []string{"internal/plugin/importer/translate"}, to: []string{"internal/plugin/importer/explain"},
		why: "a translation is explained when it is complete",
	},
	{
		from: []string{"api"}, to: []string{"internal"},
		why: "programs of others import the API",
	},
	{
		from: []string{"internal/operator/status", "internal/operator/policy", "internal/operator/hosts", "internal/operator/metrics"},
		to:   []string{"internal/operator/controller", "internal/operator/rollout"},
		why:  "the controller uses them, never the other way round",
	},
	{
		from: []string{"internal/engine/release/plan"}, to: []string{"internal/engine/release"}, besides: []string{"internal/engine/release/plan"},
		why: "release carries out what plan decides, never the other way round",
	},
	{
		from: []string{"internal/engine/digest", "internal/engine/text", "internal/version", "internal/engine/filewatch"},
		to:   []string{"internal", "api"},
		why:  "they are about bytes, texts and files, whatever these are of",
	},
	{
		from: []string{"api", "cmd", "config", "internal"}, to: []string{"test", "tools"},
		why: "what is delivered does not depend on what tests and builds it",
	},
}

// below reports whether a package is in one of some folders; "" contains all.
func below(pkg string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return folder == "" || pkg == folder || strings.HasPrefix(pkg, folder+"/")
	})
}

// TestImports checks who imports whom, without tests.
func TestImports(t *testing.T) {
	used := make([]bool, len(arrows))
	for pkg, imports := range importsOf(t) {
		for i, arrow := range arrows {
			if !below(pkg, arrow.from) || below(pkg, arrow.but) {
				continue
			}
			used[i] = true
			for _, target := range imports {
				if below(target, arrow.to) && !below(target, arrow.besides) {
					t.Errorf("%s imports %s: %s", cmp.Or(pkg, "the package at the root"), target, arrow.why)
				}
			}
		}
	}
	for i, arrow := range arrows {
		if !used[i] {
			t.Errorf("no package is in %v: correct the rule that %s", arrow.from, arrow.why)
		}
	}
}

// importsOf returns which packages of this module each of them imports, without tests, by their folders.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports,Module", "./...")
	list.Dir, list.Stderr = files.Root(t), os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	imports := map[string][]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
			Module     struct{ Path string }
		}
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return imports
		}
		require.NoError(t, err)
		folder := func(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, pkg.Module.Path), "/") }
		imports[folder(pkg.ImportPath)] = []string{}
		for _, path := range pkg.Imports {
			if path == pkg.Module.Path || strings.HasPrefix(path, pkg.Module.Path+"/") {
				imports[folder(pkg.ImportPath)] = append(imports[folder(pkg.ImportPath)], folder(path))
			}
		}
	}
}

// ARCHITECTURE.md draws the folders of internal/ with one line for each.
func TestInternalHasFewFolders(t *testing.T) {
	entries, err := os.ReadDir(root + "/internal")
	require.NoError(t, err)
	if len(entries) > mostFolders {
		t.Errorf("internal/ has %d folders, more than %d: put the new one into one of them", len(entries), mostFolders)
	}
	architecture := text(t, root+"/ARCHITECTURE.md")
	packages := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root+"/internal", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "testdata":
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			packages[filepath.Base(filepath.Dir(path))] = true
		}
		return nil
	}))
	for name := range packages {
		if !regexp.MustCompile(`(?m)^ *` + name + `/ +\S`).MatchString(architecture) {
			t.Errorf("the tree in ARCHITECTURE.md has no line for %s/", name)
		}
	}
}

// inside matches what looks like a path of the repository in the code of a document.
var inside = regexp.MustCompile(`^(?:api|bundle|catalog|cmd|config|docs|helm-charts|internal|test|tools)/[\w./*-]+$`)

// Every path in these documents exists. After a path, further files of its folder may follow in the same line by name.
func TestPathsExist(t *testing.T) {
	for _, name := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		found := 0
		for _, line := range strings.Split(fenced.ReplaceAllString(text(t, root+"/"+name), ""), "\n") {
			folder := ""
			for _, code := range inlined.FindAllString(line, -1) {
				path := strings.Trim(code, "`")
				switch {
				case inside.MatchString(path):
					folder = path
					if filepath.Ext(path) != "" {
						folder = filepath.Dir(path)
					}
				case folder != "" && regexp.MustCompile(`^[\w]+\.go$`).MatchString(path):
					path = folder + "/" + path
				default:
					continue
				}
				found++
				if matches, err := filepath.Glob(root + "/" + path); err != nil || len(matches) == 0 {
					t.Errorf("%s names %s, which does not exist", name, path)
				}
			}
		}
		if found < 3 {
			t.Errorf("only %d paths are found in %s: this test does not read it any more", found, name)
		}
	}
}
