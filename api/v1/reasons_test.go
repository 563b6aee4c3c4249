package v1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reasons returns the constants of conditions.go whose names begin with Reason, with the comment of each.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, parser.ParseComments)
	require.NoError(t, err)
	list := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		if name := strings.TrimPrefix(spec.Names[0].Name, "Reason"); name != value {
			t.Errorf("%s is called %q", spec.Names[0].Name, value)
		}
		list[value] = spec.Doc.Text()
		return true
	})
	return list
}

// Each reason has a section in the page that people look it up in, and there is no section of anything else.
func TestReasonsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for _, section := range strings.Split(string(text), "\n### ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		if _, twice := sections[title]; twice {
			t.Errorf("docs/troubleshooting.md has two sections %s", title)
		}
		sections[title] = rest
	}
	for reason, says := range reasons(t) {
		if !strings.HasPrefix(says, "Reason"+reason+": ") {
			t.Errorf("nothing is said of Reason%s", reason)
		}
		for _, part := range []string{"- **Means** ", "- **See** ", "- **Do** "} {
			if !strings.Contains(sections[reason], part) {
				t.Errorf("docs/troubleshooting.md has no section %s with %q", reason, part)
			}
		}
		delete(sections, reason)
	}
	for title := range sections {
		t.Errorf("docs/troubleshooting.md has a section %s, which is no reason", title)
	}
}
