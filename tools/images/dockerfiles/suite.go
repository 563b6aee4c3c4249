package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

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
	out      io.Writer
	root     string // the repository
	folder   string // for archives, and for buildah
	registry string // host and port
	served   map[string]bool
}

// serve starts the registry.
func (s *suite) serve() (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	go func() { _ = server.Serve(listener) }()
	s.registry, s.served = listener.Addr().String(), map[string]bool{}
	return func() { _ = server.Close() }, nil
}

// configure writes the settings of the engine.
func (s *suite) configure(ctx context.Context) error {
	registries := "unqualified-search-registries = [\"docker.io\"]\nshort-name-mode = \"permissive\"\n"
	for _, host := range []string{"docker.io", "gcr.io", "quay.io"} {
		registries += fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %q\ninsecure = true\n", host, s.registry+"/"+host)
	}
	registries += fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", s.registry)
	environment, err := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("cannot ask where Go is: %w", err)
	}
	if err := os.Mkdir(filepath.Join(s.folder, "registries.d"), 0o700); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"registries.conf": registries,
		"policy.json":     `{"default": [{"type": "insecureAcceptAnything"}]}`,
		"go.json":         string(environment),
	} {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// image builds an image by package images, as an archive, and returns it.
func (s *suite) image(ctx context.Context, arch string, args ...string) (v1.Image, error) {
	file := filepath.Join(s.folder, fmt.Sprintf("%s-%s.tar", args[len(args)-1], arch))
	args = append([]string{"run", ".", "-arch", arch, "-version", version, "-out", file}, args...)
	if err := s.command(ctx, filepath.Join(s.root, "tools/images"), "go", args...); err != nil {
		return nil, err
	}
	return tarball.ImageFromPath(file, nil)
}

// command runs a program; what it writes is shown if it fails.
func (s *suite) command(ctx context.Context, folder, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "PWD="+folder)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, tail(output))
	}
	return nil
}

// make runs make targets, this program in docker's place.
func (s *suite) make(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args = append([]string{"--no-print-directory", "CONTAINER_TOOL=" + engineFolder + "='" + s.folder + "' '" + self + "'"}, args...)
	return s.command(ctx, s.root, "make", args...)
}

var from = regexp.MustCompile(`(?mi)^FROM\s+(?:--platform=\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?\s*$`)

// bases returns the images that a Dockerfile begins with.
func bases(dockerfile string) []string {
	var images []string
	stages := []string{"scratch"}
	for _, found := range from.FindAllStringSubmatch(dockerfile, -1) {
		if !slices.Contains(stages, found[1]) && !slices.Contains(images, found[1]) {
			images = append(images, found[1])
		}
		stages = append(stages, found[2])
	}
	return images
}

// offer puts stand-ins for the base images of a Dockerfile into the registry.
func (s *suite) offer(ctx context.Context, dockerfile string) error {
	text, err := os.ReadFile(filepath.Join(s.root, dockerfile))
	if err != nil {
		return err
	}
	for _, base := range bases(string(text)) {
		if s.served[base] {
			continue
		}
		full, err := name.ParseReference(base)
		if err != nil {
			return err
		}
		var args []string
		archs := []string{runtime.GOARCH} // the compiler runs on the machine's own platform
		switch repository := strings.TrimPrefix(full.Context().Name(), "index.docker.io/library/"); repository {
		case "gcr.io/distroless/static":
			args, archs = []string{"static"}, []string{runtime.GOARCH, foreign}
		case "golang":
			args = []string{"golang"}
			if err := s.sameGo(ctx, full.Identifier()); err != nil {
				return err
			}
			// What the Dockerfile downloads is mounted: its base trusts the certificates of no proxy.
			if err := s.command(ctx, s.root, "go", "mod", "download"); err != nil {
				return err
			}
		case "quay.io/operator-framework/opm":
			opm, err := s.opm(ctx)
			if err != nil {
				return err
			}
			args = []string{"-file", opm, "opm"}
		default:
			return fmt.Errorf("%s begins with %s, for which there is no stand-in: add one to tools/images/bases.go", dockerfile, base)
		}
		if err := s.push(ctx, full, archs, args); err != nil {
			return err
		}
		s.served[base] = true
	}
	return nil
}

// push builds a stand-in for each of the processors and pushes it under the name of the image.
func (s *suite) push(ctx context.Context, full name.Reference, archs, args []string) error {
	place := strings.Replace(full.Context().Name(), "index.docker.io", "docker.io", 1)
	tag, err := name.NewTag(s.registry+"/"+place+":"+full.Identifier(), name.Insecure)
	if err != nil {
		return fmt.Errorf("a base image that is named by its digest cannot be made of files: %w", err)
	}
	index := mutate.IndexMediaType(empty.Index, types.DockerManifestList)
	for _, arch := range archs {
		image, err := s.image(ctx, arch, args...)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	return remote.WriteIndex(tag, index, remote.WithContext(ctx))
}

// sameGo returns an error if a Dockerfile names another Go than the one that is mounted.
func (s *suite) sameGo(ctx context.Context, wanted string) error {
	output, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return err
	}
	if here := strings.TrimPrefix(strings.TrimSpace(string(output)), "go"); here != wanted && !strings.HasPrefix(here, wanted+".") {
		return fmt.Errorf("the Dockerfile has golang:%s, and here is Go %s", wanted, here)
	}
	return nil
}

// opm builds opm and returns its path. It is static.
func (s *suite) opm(ctx context.Context) (string, error) {
	file := filepath.Join(s.folder, "opm")
	return file, s.command(ctx, s.root, "go", "build", "-C", "tools/pins/opm", "-tags", "containers_image_openpgp,json1", "-o", file,
		"github.com/operator-framework/operator-registry/cmd/opm")
}

// pull returns an image that was pushed, for a processor.
func (s *suite) pull(ctx context.Context, image, arch string) (v1.Image, error) {
	tag, err := name.NewTag(image, name.Insecure)
	if err != nil {
		return nil, err
	}
	return remote.Image(tag, remote.WithContext(ctx), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
}

// mounts are the folders that are mounted while a Dockerfile runs.
func mounts(folder string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "go.json"))
	if err != nil {
		return nil, err
	}
	var at struct{ GOROOT, GOMODCACHE, GOCACHE string }
	if err := json.Unmarshal(text, &at); err != nil {
		return nil, err
	}
	return []string{at.GOROOT + ":/usr/local/go:ro", at.GOMODCACHE + ":/go/pkg/mod", at.GOCACHE + ":/root/.cache/go-build"}, nil
}
