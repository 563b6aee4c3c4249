// Command cli makes what people install kubectl appservice from: for each platform an archive with a static program,
// their checksums, and a manifest for krew. The same sources make the same archives.
//
//	go run ./tools/cmd/cli -version 0.2.0 -out dist/cli
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing/fstest"
	"text/template"

	"github.com/example/appservice-operator/tools/toolchain"
)

// platform is one that the program is built for.
type platform struct{ OS, Arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.OS + "/" + p.Arch }

// Program is the name of the program's file.
func (p platform) Program() string {
	if p.OS == "windows" {
		return "kubectl-appservice.exe"
	}
	return "kubectl-appservice"
}

// File is the name of the archive.
func (p platform) File(version string) string {
	extension := "tar.gz"
	if p.OS == "windows" {
		extension = "zip"
	}
	return fmt.Sprintf("kubectl-appservice_%s_%s_%s.%s", version, p.OS, p.Arch, extension)
}

func main() {
	version := flag.String("version", "", "the version of the program, as in 0.2.0")
	out := flag.String("out", "dist/cli", "the folder for archives, checksums and manifest; what is in it goes")
	only := flag.String("only", "", "platforms to build for, as in linux/amd64,darwin/arm64; "+
		"all if it is left out, and else there is no manifest")
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
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	sums, lines := map[platform]string{}, ""
	for _, p := range wanted {
		program, err := p.build(ctx, root, version)
		if err != nil {
			return fmt.Errorf("cannot build for %s: %w", p, err)
		}
		content, err := p.archive(root, program)
		if err != nil {
			return fmt.Errorf("cannot pack for %s: %w", p, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.File(version)), content, 0o644); err != nil {
			return err
		}
		sums[p] = fmt.Sprintf("%x", sha256.Sum256(content))
		lines += fmt.Sprintf("%s  %s\n", sums[p], p.File(version)) // for sha256sum --check
	}
	fmt.Print(lines)
	if err := os.WriteFile(filepath.Join(out, "checksums.txt"), []byte(lines), 0o644); err != nil || only != "" {
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
		at := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("-only=%s: %q is none of %v", only, name, platforms)
		}
		list = append(list, platforms[at])
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
	file := filepath.Join(dir, p.Program())
	stamp := "-s -w -X github.com/example/appservice-operator/internal/version.Version=" + version
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", file,
		"./cmd/kubectl-appservice")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch)
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// complete is the name of the script by which kubectl completes the arguments of "kubectl appservice".
const complete = "kubectl_complete-appservice"

// archive packs the program, its license and, for shells that can run it, the script for completion. There are no times
// and owners in it: the same files make the same archive.
func (p platform) archive(root string, program []byte) ([]byte, error) {
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{"LICENSE": {Data: license, Mode: 0o644}, p.Program(): {Data: program, Mode: 0o755}}
	var out bytes.Buffer
	if p.OS == "windows" {
		archive := zip.NewWriter(&out)
		for _, name := range []string{"LICENSE", p.Program()} { // AddFS would make up a time
			header := &zip.FileHeader{Name: name, Method: zip.Deflate}
			header.SetMode(files[name].Mode)
			file, err := archive.CreateHeader(header)
			if err != nil {
				return nil, err
			}
			if _, err := file.Write(files[name].Data); err != nil {
				return nil, err
			}
		}
		err := archive.Close()
		return out.Bytes(), err
	}
	script, err := os.ReadFile(filepath.Join(root, "cmd/kubectl-appservice", complete))
	if err != nil {
		return nil, err
	}
	files[complete] = &fstest.MapFile{Data: script, Mode: 0o755}
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	err = errors.Join(archive.AddFS(files), archive.Close(), packed.Close())
	return out.Bytes(), err
}

// krew is the manifest by which krew installs the program.
//
//go:embed krew.yaml
var krew string

// manifest fills in version and checksums.
func manifest(version string, sums map[platform]string) ([]byte, error) {
	parsed, err := template.New("krew.yaml").Option("missingkey=error").Parse(krew)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{"Version": version, "Platforms": platforms, "Sums": sums})
	return out.Bytes(), err
}
