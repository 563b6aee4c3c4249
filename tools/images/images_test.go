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
	archive := build(t, "-version", "1.2.3", "manager")
	if !bytes.Equal(read(t, archive), read(t, build(t, "-version", "1.2.3", "manager"))) {
		t.Error("two builds of the same sources differ")
	}
	if size := len(read(t, archive)); size > most {
		t.Errorf("the archive has %d bytes, want at most %.0f", size, most)
	}
	image, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
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
	found := contents(t, image)
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

func TestAProgramIsFoundByItsName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, []byte("static"), 0o600); err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(build(t, "-file", file, "program"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, image)["usr/local/bin/tool"]; got != "static" {
		t.Errorf("got %q in the program's place", got)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Config; !slices.Contains(got.Env, "PATH=/usr/local/bin") || !slices.Equal(got.Entrypoint, []string{"/usr/local/bin/tool"}) {
		t.Errorf("got environment %v and entry point %v", got.Env, got.Entrypoint)
	}
}

func TestChartsAreInTheFolderThatTheDockerfileCopies(t *testing.T) {
	image, err := tarball.ImageFromPath(build(t, "charts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const name = "helm-charts/appservice/Chart.yaml"
	if got, want := contents(t, image)[name], string(read(t, filepath.Join(root, name))); got != want {
		t.Errorf("got %q as %s, want %q", got, name, want)
	}
	if dockerfile := string(read(t, filepath.Join(root, "charts.Dockerfile"))); !strings.Contains(dockerfile, "COPY helm-charts /helm-charts\n") {
		t.Errorf("the Dockerfile copies something else: %s", dockerfile)
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
	if err := f.unpack(&packed, isNeeded); err != nil {
		t.Fatal(err)
	}
	if len(f) != 3 || f["usr/bin/tool"].mode != 0o755 || f["usr/bin/same"].mode != 0o755 || f["lib/library.so"].target != "library.so.1" {
		t.Errorf("got %v", f)
	}
	if owner := f["usr/bin/tool"].owner; owner != 0 {
		t.Errorf("got owner %d, want root", owner)
	}
}

func TestErrors(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"no image":          {[]string{"-out", "x"}, "cannot guess what to do"},
		"no archive":        {[]string{"pause"}, "cannot guess what to do"},
		"an unknown image":  {[]string{"-out", "x", "other"}, "cannot build image other"},
		"no program":        {[]string{"-out", "x", "program"}, "-file names no program"},
		"a tag that is bad": {[]string{"-out", "x", "-tag", "A B", "pause"}, "cannot tag image pause"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tc.args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
		})
	}
}

// build writes an image and returns the path of its archive.
func build(t *testing.T, args ...string) string {
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

// contents returns the files of an image by their path.
func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	flat := mutate.Extract(image)
	defer flat.Close()
	files := map[string]string{}
	for archive := tar.NewReader(flat); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
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
