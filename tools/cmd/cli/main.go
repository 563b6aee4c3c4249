// Command cli makes what people install kubectl appservice from: for each platform an archive with a static program, their checksums, and a
// manifest for krew. The same sources make the same archives.
//
//	go run ./tools/cmd/cli -version 0.2.0 -out dist/cli
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/toolchain"
)

// platforms are those that the program is built for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	version := flag.String("version", "", "the version of the program, as in 0.2.0")
	out := flag.String("out", "dist/cli", "the folder for archives, checksums and manifest; what is in it goes")
	only := flag.String("only", "", "platforms to build for, as in linux/amd64,darwin/arm64; all if it is left out, and else there is no manifest")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *version, *out, *only)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cli:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, out, only string) error {
	if version == "" {
		return fmt.Errorf("-version is missing, as in -version 0.2.0")
	}
	wanted, err := selected(only)
	if err != nil {
		return err
	}
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	sums := map[platform]string{}
	for _, p := range wanted {
		program, err := p.build(ctx, root, version)
		if err != nil {
			return fmt.Errorf("cannot build for %s: %w", p, err)
		}
		content, err := p.archive(root, program)
		if err != nil {
			return fmt.Errorf("cannot pack for %s: %w", p, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.file(version)), content, 0o644); err != nil {
			return err
		}
		sums[p] = sum(content)
		fmt.Printf("%s  %s\n", sums[p], p.file(version))
	}
	if err := os.WriteFile(filepath.Join(out, "checksums.txt"), checksums(wanted, sums, version), 0o644); err != nil || only != "" {
		return err
	}
	text, err := manifest(version, sums)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "appservice.yaml"), text, 0o644)
}

// selected returns the platforms that a list names; all of them for none.
func selected(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var list []platform
	for name := range strings.SplitSeq(only, ",") {
		found := false
		for _, p := range platforms {
			if p.String() == name {
				list, found = append(list, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-only=%s: %q is none of %v", only, name, platforms)
		}
	}
	return list, nil
}

// build compiles the program. Go's cache has what was compiled before.
func (p platform) build(ctx context.Context, root, version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "kubectl-appservice-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, p.program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X github.com/example/appservice-operator/internal/version.Version="+version, "-o", file, "./cmd/kubectl-appservice")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}
