//go:build cluster

package contract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testNames finds the tests that a line of a table names.
var testNames = regexp.MustCompile("`(Test[^`]*)`")

// Each line of the tables in docs/drift.md names the tests that show it, in a comment that readers do not see, and all
// tests that the page names exist.
func TestEachLineOnDriftHasItsTest(t *testing.T) {
	page, err := os.ReadFile("../../docs/drift.md")
	require.NoError(t, err)
	tests, lines := testsIn(t, "../integration"), 0
	maps.Copy(tests, testsIn(t, "../scenario"))
	known := map[string]bool{}
	findTests(known)
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| change |") {
			continue
		}
		lines++
		assert.Regexp(t, testNames, line, "no test is named")
	}
	assert.NotZero(t, lines, "the page has no tables")
	for _, name := range testNames.FindAllStringSubmatch(string(page), -1) {
		test, subtest, isSubtest := strings.Cut(name[1], "/")
		subtest = path.Base(subtest) // above it are groups of cases
		texts, found := tests[test]
		if !known[name[1]] && (!found || isSubtest && !texts[subtest]) {
			t.Errorf("there is no test %s in test/integration or test/scenario", name[1])
		}
	}
}

// testsIn finds the test functions of a folder, each with the keys of the tables in its file.
func testsIn(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	tests := map[string]map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		keys := map[string]bool{}
		ast.Inspect(file, func(node ast.Node) bool {
			pair, ok := node.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			if literal, ok := pair.Key.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value) // the parser took it
				keys[text] = true
			}
			return true
		})
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && strings.HasPrefix(function.Name.Name, "Test") {
				tests[function.Name.Name] = keys
			}
		}
	}
	return tests
}
