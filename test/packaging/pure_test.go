package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pure is the package whose results depend on arguments alone: it needs no cluster to be understood, and none to be tested.
const pure = "internal/engine/release/plan"

// impure matches packages that have to do with time, input and output, or goroutines.
var impure = regexp.MustCompile(`^(?:(?:context|crypto/rand|sync|syscall|time)|(?:io|log|math/rand|net|os)(?:/.*)?|` +
	`k8s\.io/(?:client-go|klog|utils/clock)(?:/.*)?|sigs\.k8s\.io/controller-runtime(?:/.*)?|.*/internal/engine/kube/livestate)$`)

// data are the types of impure packages that are no more than data.
var data = map[string][]string{
	"time": {"Duration", "Time"},
	"sigs.k8s.io/controller-runtime/pkg/client":                             {"Object"},
	"github.com/example/appservice-operator/internal/engine/kube/livestate": {"Record", "Snapshot"},
}

// The package that compares and decides has no client, no context and no clock, and reads and writes nothing.
func TestDecisionsDependOnArgumentsAlone(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(root, pure, "*.go"))
	require.NoError(t, err)
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		found++
		limited := map[string]string{}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			switch {
			case !impure.MatchString(imported):
			case data[imported] == nil || spec.Name != nil:
				t.Errorf("%s imports %s", name, spec.Path.Value)
			default:
				limited[path.Base(imported)] = imported
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			use, is := node.(*ast.SelectorExpr)
			if !is {
				return true
			}
			if of, is := use.X.(*ast.Ident); is && limited[of.Name] != "" && !slices.Contains(data[limited[of.Name]], use.Sel.Name) {
				t.Errorf("%s uses %s.%s, and may use only %v of that package", name, of.Name, use.Sel.Name, data[limited[of.Name]])
			}
			return true
		})
	}
	if found < 10 {
		t.Errorf("only %d files are found in %s: this test does not read it any more", found, pure)
	}
}
