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

// Commit returns the commit that a program was built from, empty if it does not say; "+" follows it if files had
// changed.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = "+"
		}
	}
	if commit == "" {
		return ""
	}
	return commit[:min(len(commit), 12)] + changed
}
