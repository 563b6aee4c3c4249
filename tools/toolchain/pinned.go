package toolchain

import "path/filepath"

// Pinned returns the command that runs a program which a module of tools/pins in a repository pins as a tool.
func Pinned(root, name string) []string {
	return []string{"go", "tool", "-modfile=" + filepath.Join(root, "tools/pins", name, "go.mod"), name}
}
