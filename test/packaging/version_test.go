package packaging

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stamp matches the variable that a build sets to the version, by its package.
var stamp = regexp.MustCompile(`-X (?:github\.com/example/appservice-operator|\$\(MODULE\))/([\w/]+)\.(\w+)=`)

// The linker ignores a variable that does not exist: a program would not know its version.
func TestBuildsSetAVariableThatExists(t *testing.T) {
	for _, name := range []string{"Makefile", "Dockerfile", "tools/images/recipe.go", "tools/cmd/cli/main.go"} {
		found := stamp.FindAllStringSubmatch(text(t, root+"/"+name), -1)
		require.NotEmpty(t, found, name)
		for _, match := range found {
			packages, err := filepath.Glob(root + "/" + match[1] + "/*.go")
			require.NoError(t, err)
			declared := slices.ContainsFunc(packages, func(file string) bool {
				return strings.Contains(text(t, file), "\nvar "+match[2]+" ")
			})
			require.True(t, declared, "%s sets %s.%s", name, match[1], match[2])
		}
	}
}
