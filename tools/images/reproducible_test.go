package main

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Where the sources are, and who owns them, is in neither the program nor the image.
func TestTheSameSourcesElsewhere(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "a folder with another name")
	for _, name := range []string{"api", "cmd", "internal", "helm-charts"} {
		if err := os.CopyFS(filepath.Join(elsewhere, name), os.DirFS(filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "embed.go", "watches.yaml"} {
		if err := os.WriteFile(filepath.Join(elsewhere, name), read(t, filepath.Join(root, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digests := map[[sha256.Size]byte][]string{}
	for _, source := range []string{root, elsewhere} {
		program, err := program{source: source, path: "./cmd/manager"}.build(t.Context(), runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(program)
		t.Logf("%x  %s", sum, source)
		digests[sum] = append(digests[sum], source)
	}
	if len(digests) != 1 {
		t.Errorf("the programs differ: %x", digests)
	}
	here, there := build(t, "-version", "1.2.3", "manager"), build(t, "-version", "1.2.3", "-source", elsewhere, "manager")
	if sha256.Sum256(read(t, here)) != sha256.Sum256(read(t, there)) {
		t.Error("the images differ")
	}
}
