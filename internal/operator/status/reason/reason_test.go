package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTableHasEachReasonOfTheAPI(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../api/v1/conditions.go", nil, 0)
	require.NoError(t, err)
	var known []string
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			known = append(known, strings.TrimPrefix(spec.Names[0].Name, "Reason")) // which is its value: a test of api/v1 sees to that
		}
		return true
	})
	require.NotEmpty(t, known)
	require.ElementsMatch(t, known, slices.Collect(maps.Keys(reasons)))
}

// Causes that a whole fleet has at the same time, as of a registry, nodes or a quota, are not here: all of it would go back.
func TestWhichReasonsLeadBack(t *testing.T) {
	var list []string
	for name, known := range reasons {
		if known.LeadsBack {
			list = append(list, name)
		}
	}
	require.ElementsMatch(t, []string{"ContainerConfigInvalid", "ContainerCrashed", "ContainerStartFailed", "ImageNameInvalid", "ImageNotFound",
		"LivenessProbeFailing", "OutOfMemory", "ReadinessProbeFailing", "RolloutStalled", "StartupProbeFailing"}, list)
}
