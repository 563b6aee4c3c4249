package toolchain

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConcurrentBuilds builds one tiny program, that needs no module and no standard library package, many times over.
func TestConcurrentBuilds(t *testing.T) {
	w, hello := tinyWorkshop(t)
	var output lockedBuffer
	w.progress = &output

	var group sync.WaitGroup
	paths := make([]string, 4)
	for i := range paths {
		group.Go(func() {
			programs, err := w.ensure(t.Context(), []program{hello})
			assert.NoError(t, err)
			paths[i] = programs["hello"]
		})
	}
	group.Wait()
	for _, path := range paths {
		if path != paths[0] {
			t.Fatalf("got different paths: %v", paths)
		}
	}
	if n := strings.Count(output.String(), "building hello (a greeting) from example.com/hello v1.2.3, about 1 s on 2 cores"); n != 1 {
		t.Errorf("the program was built %d times, want once:\n%s", n, output.String())
	}
	if out, err := exec.CommandContext(t.Context(), paths[0]).CombinedOutput(); err != nil || string(out) != "v1.2.3\n" {
		t.Errorf("the program says %q (error %v), want %q", out, err, "v1.2.3\n")
	}

	output.Reset()
	if _, err := w.ensure(t.Context(), []program{hello}); err != nil {
		t.Fatal(err)
	}
	if output.String() != "" {
		t.Errorf("got output for a program that is there already:\n%s", output.String())
	}
}

func TestProgramsOfAModuleAreBuiltTogether(t *testing.T) {
	w, hello := tinyWorkshop(t)
	var output lockedBuffer
	w.progress = &output
	write(t, filepath.Join(w.pins, "hello", "sibling", "v2", "main.go"), "package main\n\nfunc main() { print(\"sibling\") }\n")
	sibling, tagged := hello, hello
	sibling.name, sibling.path, sibling.takes = "little-brother", "example.com/tools/sibling/v2", 2*time.Minute
	tagged.name, tagged.tags = "tagged", "tag"
	programs, err := w.ensure(t.Context(), []program{hello, tagged, sibling})
	require.NoError(t, err)
	for name, want := range map[string]string{"hello": "v1.2.3\n", "tagged": "v1.2.3\n", "little-brother": "sibling"} {
		if out, err := exec.CommandContext(t.Context(), programs[name]).CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s says %q (error %v), want %q", name, out, err, want)
		}
	}
	for _, want := range []string{
		"building hello (a greeting) and little-brother (a greeting) from example.com/hello v1.2.3, about 2 min on 2 cores",
		"building tagged (a greeting) from", // other flags, another build
	} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("got output %q, want %q", output.String(), want)
		}
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	w, hello := tinyWorkshop(t)
	write(t, filepath.Join(w.pins, "hello", "main.go"), "package main\n\nfunc main() { undefined() }\n")
	_, err := w.ensure(t.Context(), []program{hello})
	if err == nil || !strings.Contains(err.Error(), "cannot build hello") || !strings.Contains(err.Error(), "undefined") {
		t.Errorf("got error %v, want one that names the program and the cause", err)
	}
	found, err := filepath.Glob(filepath.Join(w.cache, "hello-*", "*"))
	if err != nil || len(found) > 0 {
		t.Errorf("got %v (error %v), want nothing in the cache", found, err)
	}
}

// tinyWorkshop returns a workshop of its own with one program that builds in a second.
func tinyWorkshop(t *testing.T) (workshop, program) {
	t.Helper()
	w := workshop{pins: t.TempDir(), cache: t.TempDir(), progress: &lockedBuffer{}}
	write(t, filepath.Join(w.pins, "hello", "main.go"),
		"package main\n\nvar version string\n\nfunc main() { print(version, \"\\n\") }\n")
	// A requirement that the go command does not have to fetch: the module replaces it with a folder.
	write(t, filepath.Join(w.pins, "hello", "go.mod"), `module example.com/tools

go 1.26.0

require example.com/hello v1.2.3

replace example.com/hello => ./hello
`)
	write(t, filepath.Join(w.pins, "hello", "hello", "go.mod"), "module example.com/hello\n")
	return w, program{
		name: "hello", use: "a greeting", module: "hello", path: "example.com/tools", source: "example.com/hello", takes: time.Second,
		stamp: func(version string) []string { return []string{"main.version=" + version} },
	}
}
