// Package version says which build of the operator this is.
package version

import (
	"runtime/debug"
	"strings"
)

// development is the version of builds for which none was set.
const development = "dev"

// Version is set by the linker: -X github.com/example/appservice-operator/internal/version.Version=1.2.3.
var Version = development

// OfModule returns the version set by the linker, else that of the module passed to "go install".
func OfModule() string {
	info, ok := debug.ReadBuildInfo()
	if Version != development || !ok || !strings.HasPrefix(info.Main.Version, "v") {
		return Version
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
