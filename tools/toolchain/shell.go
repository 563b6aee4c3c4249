package toolchain

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Exports returns the shell commands that make a POSIX shell use a cluster: its kubeconfig, and the kubectl that fits it.
func Exports(kubeconfig, kubectl string) string {
	return fmt.Sprintf("export KUBECONFIG=%s\nexport PATH=%s:\"$PATH\"\n", quote(kubeconfig), quote(filepath.Dir(kubectl)))
}

// quote makes one word of a string, for any POSIX shell.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
