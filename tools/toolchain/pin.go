package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// rootModule is the module whose folder has the folder tools in it.
const rootModule = "github.com/example/appservice-operator"

// Root returns the folder of the repository that the working directory is in.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("cannot find the repository: %w", err)
		}
		if directive(content, "module") == rootModule {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("cannot find the repository: no go.mod of %s in %s or above", rootModule, start)
		}
	}
}

// pin is what decides which build of a program is the right one.
type pin struct {
	version string // of the program, as the module that pins it says
	key     string // 12 hex digits that change with anything that goes into the program
}

// pinOf reads the pin of a program from its module's folder. The toolchain names the Go release and the platform.
func pinOf(p program, moduleDir, toolchain string) (pin, error) {
	mod, err := os.ReadFile(filepath.Join(moduleDir, "go.mod"))
	if err != nil {
		return pin{}, err
	}
	sum, err := os.ReadFile(filepath.Join(moduleDir, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pin{}, err
	}
	version := requirement(mod, p.source)
	if version == "" {
		return pin{}, fmt.Errorf("%s does not require %s", filepath.Join(moduleDir, "go.mod"), p.source)
	}
	hash := sha256.New()
	for _, part := range []string{string(mod), string(sum), strings.Join(flags(p, version), "\x00"), toolchain} {
		// The length before each part keeps one part from running into the next.
		_, _ = fmt.Fprintf(hash, "%d\n%s", len(part), part)
	}
	return pin{version: version, key: hex.EncodeToString(hash.Sum(nil))[:12]}, nil
}

// flags returns the flags of the go command that all programs of a module have in common.
func flags(p program, version string) []string {
	ldflags := "-s -w"
	if p.stamp != nil {
		for _, value := range p.stamp(version) {
			ldflags += " -X " + value
		}
	}
	flags := []string{"-trimpath", "-ldflags", ldflags}
	if p.tags != "" {
		flags = append(flags, "-tags", p.tags)
	}
	return flags
}

// release returns the major and minor number of a version such as v1.36.3.
func release(version string) (major, minor string) {
	numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(numbers) < 2 {
		return numbers[0], ""
	}
	return numbers[0], numbers[1]
}

// requirement returns the version of a module that a go.mod requires, or nothing.
func requirement(gomod []byte, module string) string {
	for line := range strings.Lines(string(gomod)) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1]
		}
	}
	return ""
}

// directive returns the value of a one-line directive of a go.mod, or nothing.
func directive(gomod []byte, name string) string {
	for line := range strings.Lines(string(gomod)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			return fields[1]
		}
	}
	return ""
}
