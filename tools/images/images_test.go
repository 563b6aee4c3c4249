package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// most is how big the manager's image may be, compressed, in bytes.
const most = 60e6

func TestManager(t *testing.T) {
	archive := write(t, "-version", "1.2.3", "manager")
	if size := len(read(t, archive)); size > most {
		t.Errorf("the archive has %d bytes, want at most %.0f", size, most)
	}
	file, found := image(t, archive)
	for what, c := range map[string]struct{ got, want string }{
		"platform":    {file.OS + "/" + file.Architecture, "linux/" + runtime.GOARCH},
		"user":        {file.Config.User, "65532:65532"},
		"entrypoint":  {strings.Join(file.Config.Entrypoint, " "), "/manager"},
		"version":     {file.Config.Labels["org.opencontainers.image.version"], "1.2.3"},
		"title":       {file.Config.Labels["org.opencontainers.image.title"], "appservice-operator"},
		"file system": {file.RootFS.Type, "layers"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", what, c.got, c.want)
		}
	}
	if !strings.Contains(found["etc/passwd"], "nonroot:x:65532:65532:") {
		t.Errorf("got users %q, want nonroot among them", found["etc/passwd"])
	}
	if n := strings.Count(found["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("got %d root certificates, want the usual hundred or so", n)
	}
	if found["manager"] == "" {
		t.Error("the manager is missing")
	}
}

// Where the sources are, and who owns them, is not in the image, and so not in the program that is in it.
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
	here, there := write(t, "-version", "1.2.3", "manager"), write(t, "-version", "1.2.3", "-source", elsewhere, "manager")
	if !bytes.Equal(read(t, here), read(t, there)) {
		t.Error("the images differ")
	}
}

func TestAProgramIsFoundByItsName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, []byte("static"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, found := image(t, write(t, "-file", file, "program"))
	if got := found["usr/local/bin/tool"]; got != "static" {
		t.Errorf("got %q in the program's place", got)
	}
	got, run := config.Config, []string{"/usr/local/bin/tool"}
	if !slices.Contains(got.Env, "PATH=/usr/local/bin") || !slices.Equal(got.Entrypoint, run) {
		t.Errorf("got environment %v and entry point %v", got.Env, got.Entrypoint)
	}
}

func TestChartsAreInTheFolderThatTheDockerfileCopies(t *testing.T) {
	const name = "helm-charts/appservice/Chart.yaml"
	_, found := image(t, write(t, "charts"))
	if got, want := found[name], string(read(t, filepath.Join(root, name))); got != want {
		t.Errorf("got %q as %s, want %q", got, name, want)
	}
	dockerfile := string(read(t, filepath.Join(root, "charts.Dockerfile")))
	if !strings.Contains(dockerfile, "COPY helm-charts /helm-charts\n") {
		t.Errorf("the Dockerfile copies something else: %s", dockerfile)
	}
}

func TestUnpack(t *testing.T) {
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for _, header := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: "./usr/bin/tool", Mode: 0o755, Uname: "somebody", Uid: 7},
		{Typeflag: tar.TypeReg, Name: "./usr/share/doc/tool/copyright", Mode: 0o644},
		{Typeflag: tar.TypeSymlink, Name: "./lib/library.so", Linkname: "library.so.1"},
		{Typeflag: tar.TypeLink, Name: "./usr/bin/same", Linkname: "./usr/bin/tool"},
	} {
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	f := filesystem{}
	if err := f.unpack(&packed); err != nil {
		t.Fatal(err)
	}
	tool, same := f["usr/bin/tool"], f["usr/bin/same"]
	library := f["lib/library.so"].Linkname
	if len(f) != 3 || tool.Mode != 0o755 || tool.Uid != 0 || same.Mode != 0o755 || library != "library.so.1" {
		t.Errorf("got %v", f)
	}
}

func TestLayerDependsOnItsEntriesAlone(t *testing.T) {
	digest := func(fill func(filesystem)) string {
		t.Helper()
		f := filesystem{}
		fill(f)
		layer, err := f.layer()
		if err != nil {
			t.Fatal(err)
		}
		digest, err := layer.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return digest.String()
	}
	want := digest(func(f filesystem) { f.file("/a/b", 0o644, []byte("1")); f.link("/c", "a/b") })
	if got := digest(func(f filesystem) { f.link("c", "a/b"); f.file("a/./b", 0o644, []byte("1")) }); got != want {
		t.Error("the order in which entries are added changes the layer")
	}
	if got := digest(func(f filesystem) { f.file("/a/b", 0o755, []byte("1")); f.link("/c", "a/b") }); got == want {
		t.Error("the mode of a file does not change the layer")
	}
}

func TestErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"cannot guess what to do":    {"-out", "x"},
		"name one image and -out":    {"pause"},
		"cannot build image other":   {"-out", "x", "other"},
		"-file names no program":     {"-out", "x", "program"},
		"cannot tag image pause: ":   {"-out", "x", "-tag", "A B", "pause"},
		"cannot build image charts:": {"-out", "x", "-source", "nowhere", "charts"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got error %v, want %q", args, err, want)
		}
	}
}

// write writes an image and returns the path of its archive.
func write(t *testing.T, args ...string) string {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "image.tar")
	if err := run(t.Context(), append([]string{"-out", archive}, args...), io.Discard, t.Output()); err != nil {
		t.Fatal(err)
	}
	return archive
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// image returns the configuration of an image, and its files by their path.
func image(t *testing.T, archive string) (*v1.ConfigFile, map[string]string) {
	t.Helper()
	image, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	flat := mutate.Extract(image)
	defer flat.Close()
	files := map[string]string{}
	for archive := tar.NewReader(flat); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return config, files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}
