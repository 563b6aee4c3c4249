package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// recipe describes an image.
type recipe struct {
	tag    string       // its name if the caller passes none
	layers []filesystem // the lowest first
	config v1.Config
}

// image puts the image for Linux on the given processor together.
func (r recipe) image(arch string) (v1.Image, error) {
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		Architecture: arch, OS: "linux", Config: r.config, Created: v1.Time{Time: time.Unix(0, 0).UTC()},
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	for _, f := range r.layers {
		layer, err := f.layer()
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	return image, nil
}

// lookUp returns the recipe of an image, its programs built.
func lookUp(ctx context.Context, wanted request) (recipe, error) {
	switch wanted.image {
	case "manager":
		return manager(ctx, wanted)
	case "pause":
		return static(ctx, wanted, "registry.k8s.io/pause:3.10", program{source: filepath.Join(wanted.source, "tools/images"), path: "./pause"})
	case "web":
		return static(ctx, wanted, "example.com/web:1", program{source: wanted.source, path: "./test/e2e/web"})
	case "subject":
		return static(ctx, wanted, "example.com/subject:1", program{source: wanted.source, path: "./test/diagnosis/subject"})
	case "scorecard":
		tag := "example.com/appservice-operator-scorecard:v" + wanted.version
		return static(ctx, wanted, tag, program{source: wanted.source, path: "./test/scorecard"})
	case "charts":
		return charts(wanted)
	case "program":
		return ready(wanted)
	case "static":
		return staticBase(), nil
	case "golang":
		return golangBase(ctx, wanted)
	case "opm":
		return opmBase(wanted)
	case "nginx":
		return nginx(ctx, wanted)
	case "busybox":
		return busybox(ctx, wanted)
	default:
		return recipe{}, fmt.Errorf("there is no image of that name, see -h")
	}
}

// static is the image of a program that needs nothing but itself.
func static(ctx context.Context, wanted request, tag string, p program) (recipe, error) {
	binary, err := p.build(ctx, wanted.arch)
	if err != nil {
		return recipe{}, err
	}
	return alone(tag, "/"+filepath.Base(p.path), binary), nil
}

// ready is the image of an existing program, which is found by its name.
func ready(wanted request) (recipe, error) {
	if wanted.file == "" {
		return recipe{}, fmt.Errorf("-file names no program")
	}
	binary, err := os.ReadFile(wanted.file)
	if err != nil {
		return recipe{}, err
	}
	const bin = "/usr/local/bin"
	name := filepath.Base(wanted.file)
	r := alone("example.com/"+name+":latest", path.Join(bin, name), binary)
	r.config.Env = []string{"PATH=" + bin}
	return r, nil
}

// alone is the image of one file, which it runs.
func alone(tag, name string, binary []byte) recipe {
	f := filesystem{}
	f.file(name, 0o755, binary)
	return recipe{
		tag: tag, layers: []filesystem{f},
		config: v1.Config{User: "65532:65532", Entrypoint: []string{name}, WorkingDir: "/"},
	}
}

// program is a main package of a module of this repository.
type program struct {
	source  string // the folder of the module
	path    string // the package, from the module
	ldflags string
}

// build compiles the program for Linux on the given processor, as the Dockerfile does.
func (p program) build(ctx context.Context, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "appservice-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "program")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", p.ldflags, "-o", out, p.path)
	command.Dir = p.source
	command.Env = append(os.Environ(), "PWD="+command.Dir, "GOFLAGS=-mod=readonly", "GOWORK=off",
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=") // what the user has set for builds of their own would change the image
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot compile %s: %w: %s", p.path, err, strings.TrimSpace(string(output)))
	}
	return os.ReadFile(out)
}
