// Package version tells which build of the operator this is.
package version

// Version is set by the linker: -X github.com/example/appservice-operator/internal/version.Version=1.2.3.
var Version = "dev"
