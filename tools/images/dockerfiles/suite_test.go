package dockerfiles

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// version is the version that images are built as.
const version = "9.8.7"

// foreign is another processor than this machine's.
var foreign = map[bool]string{true: "arm64", false: "amd64"}[runtime.GOARCH == "amd64"]

// suite is what the checks have in common.
type suite struct {
	root     string // the repository
	folder   string // for archives, and for buildah
	registry string // host and port
	served   map[string]bool
}

// newSuite starts the registry, and writes the settings of buildah, which root installs where it is missing.
func newSuite(t *testing.T) *suite {
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Setenv("DEBIAN_FRONTEND", "noninteractive")
		command(t, ".", "apt-get", "install", "--yes", "--no-install-recommends", "buildah")
	}
	root, err := filepath.Abs("../../..")
	must(t, err)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	folder, err := os.MkdirTemp("", "appservice-dockerfiles-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) }) // buildah may leave what only root can delete
	s := &suite{root: root, folder: folder, registry: server.Listener.Addr().String(), served: map[string]bool{}}
	registries := "unqualified-search-registries = [\"docker.io\"]\nshort-name-mode = \"permissive\"\n"
	for _, host := range []string{"docker.io", "gcr.io", "quay.io"} {
		registries += fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %q\ninsecure = true\n", host, s.registry+"/"+host)
	}
	registries += fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", s.registry)
	at := strings.Fields(command(t, ".", "go", "env", "GOROOT", "GOMODCACHE", "GOCACHE"))
	must(t, os.Mkdir(filepath.Join(s.folder, "registries.d"), 0o700))
	for name, content := range map[string]string{
		"registries.conf": registries,
		"policy.json":     `{"default": [{"type": "insecureAcceptAnything"}]}`,
		"flags": "--volume=" + at[0] + ":/usr/local/go:ro\n--volume=" + at[1] + ":/go/pkg/mod\n--volume=" + at[2] + ":/root/.cache/go-build" +
			s.withoutDigests(t, "Dockerfile", "catalog.Dockerfile", "test/scorecard/Dockerfile"),
	} {
		must(t, os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o600))
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// command runs a program and returns its output. The end is shown if it fails.
func command(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", program, strings.Join(args, " "), err, output[max(0, len(output)-2000):])
	}
	return string(output)
}

// make runs make targets, this program in docker's place.
func (s *suite) make(t *testing.T, args ...string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	engine := "CONTAINER_TOOL=" + engineFolder + "='" + s.folder + "' '" + self + "'"
	command(t, s.root, "make", append([]string{"--no-print-directory", engine}, args...)...)
}

func (s *suite) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, name))
	must(t, err)
	return string(text)
}

// image builds an image by package images, as an archive, and returns it.
func (s *suite) image(t *testing.T, arch string, args ...string) v1.Image {
	t.Helper()
	file := filepath.Join(s.folder, fmt.Sprintf("%s-%s.tar", args[len(args)-1], arch))
	args = append([]string{"run", ".", "-arch", arch, "-version", version, "-out", file}, args...)
	command(t, filepath.Join(s.root, "tools/images"), "go", args...)
	image, err := tarball.ImageFromPath(file, nil)
	must(t, err)
	return image
}

// pushed builds an image with the make targets of its name, which take its tag from a variable, pushes it and returns
// its contents.
func (s *suite) pushed(t *testing.T, name, variable string) map[string]string {
	t.Helper()
	tag := s.registry + "/" + name + ":v" + version
	s.make(t, name+"-build", name+"-push", variable+"="+tag)
	return contents(t, s.pull(t, tag, runtime.GOARCH))
}

// pull returns an image that was pushed, for a processor.
func (s *suite) pull(t *testing.T, image, arch string) v1.Image {
	t.Helper()
	tag, err := name.NewTag(image, name.Insecure)
	must(t, err)
	platform := remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch})
	pulled, err := remote.Image(tag, remote.WithContext(t.Context()), platform)
	must(t, err)
	return pulled
}

// argument is how a Dockerfile names an image that it begins with. It captures no digest.
var argument = regexp.MustCompile(`(?m)^ARG (\w+)=([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?$`)

// bases returns the images that a Dockerfile begins with, by argument, without digests: stand-ins have others.
func bases(dockerfile string) map[string]string {
	images := map[string]string{}
	for _, found := range argument.FindAllStringSubmatch(dockerfile, -1) {
		images[found[1]] = found[2]
	}
	return images
}

// withoutDigests returns the flags of buildah that take the digests from the base images of Dockerfiles.
func (s *suite) withoutDigests(t *testing.T, dockerfiles ...string) string {
	t.Helper()
	var flags strings.Builder
	for _, dockerfile := range dockerfiles {
		for name, image := range bases(s.read(t, dockerfile)) {
			flags.WriteString("\n--build-arg=" + name + "=" + image)
		}
	}
	return flags.String()
}

func TestBases(t *testing.T) {
	dockerfile := "ARG GO_IMAGE=golang:1.26\nARG BASE_IMAGE=gcr.io/static:nonroot@sha256:" + strings.Repeat("0123456789abcdef", 4) +
		"\nARG VERSION=1.0\nFROM ${GO_IMAGE} AS builder\nARG VERSION\nFROM ${BASE_IMAGE}\n"
	want := map[string]string{"GO_IMAGE": "golang:1.26", "BASE_IMAGE": "gcr.io/static:nonroot"}
	if got := bases(dockerfile); !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// offer puts stand-ins for the base images of a Dockerfile into the registry.
func (s *suite) offer(t *testing.T, dockerfile string) {
	t.Helper()
	for _, base := range bases(s.read(t, dockerfile)) {
		if s.served[base] {
			continue
		}
		full, err := name.ParseReference(base)
		must(t, err)
		var args []string
		archs := []string{runtime.GOARCH} // the compiler runs on the machine's own platform
		switch strings.TrimPrefix(full.Context().Name(), "index.docker.io/library/") {
		case "gcr.io/distroless/static":
			args, archs = []string{"static"}, []string{runtime.GOARCH, foreign}
		case "golang":
			args = []string{"golang"}
			here := strings.TrimPrefix(strings.TrimSpace(command(t, ".", "go", "env", "GOVERSION")), "go")
			if !strings.HasPrefix(here+".", full.Identifier()+".") {
				t.Fatalf("the Dockerfile has %s, and Go %s is mounted", base, here)
			}
			// The modules of the Dockerfile are mounted: its base trusts the certificates of no proxy.
			command(t, s.root, "go", "mod", "download")
		case "quay.io/operator-framework/opm":
			opm := filepath.Join(s.folder, "opm")
			command(t, s.root, "go", "build", "-C", "tools/pins/opm", "-tags", "containers_image_openpgp,json1", "-o", opm,
				"github.com/operator-framework/operator-registry/cmd/opm") // it is static
			args = []string{"-file", opm, "opm"}
		default:
			t.Fatalf("%s begins with %s, for which there is no stand-in: add one to tools/images/recipe.go", dockerfile, base)
		}
		s.push(t, full, archs, args)
		s.served[base] = true
	}
}

// push builds a stand-in for each of the processors and pushes it under the name of the image.
func (s *suite) push(t *testing.T, full name.Reference, archs, args []string) {
	t.Helper()
	place := strings.Replace(full.Context().Name(), "index.docker.io", "docker.io", 1)
	tag, err := name.NewTag(s.registry+"/"+place+":"+full.Identifier(), name.Insecure)
	must(t, err)
	index := mutate.IndexMediaType(empty.Index, types.DockerManifestList)
	for _, arch := range archs {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: s.image(t, arch, args...), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	must(t, remote.WriteIndex(tag, index, remote.WithContext(t.Context())))
}
