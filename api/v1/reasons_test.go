package v1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// reasons gives the constants of conditions.go whose names begin with Reason, with what is said of each.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimPrefix(spec.Names[0].Name, "Reason"); name != value {
			t.Errorf("%s is called %q", spec.Names[0].Name, value)
		}
		list[value] = spec.Doc.Text()
		return true
	})
	return list
}

func TestReasonsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/app-developers.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, match := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(string(text), -1) {
		listed[match[1]] = true
	}
	// Mirrored from the Deployment or said of conditions that have nothing to tell.
	internal := map[string]bool{"AsExpected": true, "NoWorkload": true}
	known := reasons(t)
	for reason, says := range known {
		if !strings.HasPrefix(says, "Reason"+reason+": ") {
			t.Errorf("nothing is said of Reason%s", reason)
		}
		if !listed[reason] && !internal[reason] {
			t.Errorf("docs/app-developers.md does not mention %s", reason)
		}
	}
	table := regexp.MustCompile("(?m)^\\| (`[A-Z].*?) \\|").FindAllStringSubmatch(string(text), -1)
	if len(table) == 0 {
		t.Fatal("docs/app-developers.md has no table of reasons")
	}
	for _, row := range table {
		for _, name := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(row[1], -1) {
			if known[name[1]] == "" {
				t.Errorf("docs/app-developers.md tells of %s, which is no reason", name[1])
			}
		}
	}
}
