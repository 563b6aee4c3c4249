package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// root is the folder of the repository: the program runs in its module's, tools/images.
var root = filepath.Join("..", "..")

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
	for _, f := range r.layers {
		var layer v1.Layer
		if err == nil {
			layer, err = f.layer()
		}
		if err == nil {
			image, err = mutate.AppendLayers(image, layer)
		}
	}
	return image, err
}

const (
	operator = "example.com/appservice-operator"
	nonroot  = "65532:65532"
)

// staticEnv is the environment that gcr.io/distroless/static sets.
var staticEnv = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
}

// lookUp returns the recipe of an image, its programs built.
func lookUp(ctx context.Context, wanted request) (recipe, error) {
	static := func(tag, module, pkg string) (recipe, error) {
		binary, err := build(ctx, filepath.Join(wanted.source, module), pkg, "", wanted.arch)
		return alone(tag, "/"+filepath.Base(pkg), binary), err
	}
	switch wanted.image {
	case "manager":
		return manager(ctx, wanted)
	case "pause":
		return static("registry.k8s.io/pause:3.10", "tools/images", "./pause")
	case "web":
		return static("example.com/web:1", ".", "./test/e2e/web")
	case "subject":
		return static("example.com/subject:1", ".", "./test/diagnosis/subject")
	case "scorecard":
		return static(operator+"-scorecard:v"+wanted.version, ".", "./test/scorecard")
	case "charts": // for an image volume: the counterpart of charts.Dockerfile
		f := filesystem{}
		err := f.copy("/helm-charts", filepath.Join(wanted.source, "helm-charts"))
		return recipe{operator + "-charts:v" + wanted.version, []filesystem{f}, v1.Config{WorkingDir: "/"}}, err
	case "program": // it is found by its name
		binary, err := os.ReadFile(wanted.file)
		name := filepath.Base(wanted.file)
		r := alone("example.com/"+name+":latest", "/usr/local/bin/"+name, binary)
		r.config.Env = []string{"PATH=/usr/local/bin"}
		return r, err
	case "nginx":
		return nginx(ctx, wanted.arch)
	case "busybox": // its first argument says which of many small programs it is
		f := filesystem{}
		return recipe{"docker.io/library/busybox:latest", []filesystem{f}, v1.Config{
			User: nonroot, Entrypoint: []string{"busybox"}, WorkingDir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		}}, f.addPackages(ctx, wanted.arch, "busybox-static")
	case "static": // stands in for the image that the manager's Dockerfile ends with
		return recipe{"gcr.io/distroless/static:nonroot", []filesystem{distroless()}, v1.Config{
			User: "65532", WorkingDir: "/home/nonroot", Env: staticEnv,
		}}, nil
	case "golang":
		return golang(ctx, wanted.arch)
	case "opm": // stands in for the image of opm, on which the catalog's image is based
		binary, err := os.ReadFile(wanted.file)
		f := distroless()
		f.file("/bin/opm", 0o755, binary)
		return recipe{"quay.io/operator-framework/opm:latest", []filesystem{f}, v1.Config{
			User: "1001", WorkingDir: "/", Entrypoint: []string{"/bin/opm"}, Env: staticEnv,
		}}, err
	}
	return recipe{}, fmt.Errorf("there is no image of that name, see -h")
}

// alone is the image of one file, which it runs.
func alone(tag, name string, binary []byte) recipe {
	f := filesystem{}
	f.file(name, 0o755, binary)
	return recipe{tag, []filesystem{f}, v1.Config{User: nonroot, Entrypoint: []string{name}, WorkingDir: "/"}}
}

// manager is the operator's image, the counterpart of the Dockerfile.
func manager(ctx context.Context, wanted request) (recipe, error) {
	const stamp = "-s -w -X github.com/example/appservice-operator/internal/version.Version="
	binary, err := build(ctx, wanted.source, "./cmd/manager", stamp+wanted.version, wanted.arch)
	r := alone(operator+":v"+wanted.version, "/manager", binary)
	r.layers = append([]filesystem{distroless()}, r.layers...)
	r.config.Env = staticEnv
	r.config.Labels = map[string]string{
		"org.opencontainers.image.title":    "appservice-operator",
		"org.opencontainers.image.version":  wanted.version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	return r, err
}

// golang stands in for the image of Go: a shell, certificates, and the same environment. Go itself is not copied but
// mounted.
func golang(ctx context.Context, arch string) (recipe, error) {
	shell := filesystem{}
	if err := shell.addPackages(ctx, arch, "busybox-static"); err != nil {
		return recipe{}, err
	}
	for _, place := range []string{"bin/busybox", "usr/bin/busybox"} {
		if _, there := shell[place]; there {
			shell.link("/bin/sh", "/"+place)
		}
	}
	if _, there := shell["bin/sh"]; !there {
		return recipe{}, fmt.Errorf("the package busybox-static has no busybox")
	}
	shell.folder("/usr/local/go", 0o755, 0)
	shell.folder("/go/pkg/mod", 0o755, 0)
	return recipe{"docker.io/library/golang:latest", []filesystem{distroless(), shell}, v1.Config{
		WorkingDir: "/go",
		Env: []string{
			"PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"GOPATH=/go", "GOTOOLCHAIN=local", "GOCACHE=/root/.cache/go-build",
		},
	}}, nil
}

// nginxConfiguration is that of the official nginx image, as far as it can be seen from outside.
const nginxConfiguration = `user nginx;
worker_processes 1;
error_log /dev/stderr notice;
pid /run/nginx.pid;
events { worker_connections 1024; }
http {
  access_log /dev/stdout;
  server {
    listen 80;
    root /usr/share/nginx/html;
  }
}
`

// nginx is a real nginx. Its version is the one that this machine's Debian has, whatever the tag says.
func nginx(ctx context.Context, arch string) (recipe, error) {
	f := filesystem{}
	err := f.addPackages(ctx, arch, "nginx", "libc6", "libcrypt1", "libpcre2-8-0", "libssl3t64|libssl3", "zlib1g")
	f.file("/etc/nginx/nginx.conf", 0o644, []byte(nginxConfiguration))
	f.file("/usr/share/nginx/html/index.html", 0o644, []byte("<h1>Welcome to nginx!</h1>\n"))
	f.file("/etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/sbin/nologin\n"+
		"nginx:x:101:101:nginx:/nonexistent:/sbin/nologin\n"))
	f.file("/etc/group", 0o644, []byte("root:x:0:\nnginx:x:101:\n"))
	for _, dir := range []string{"/run", "/var/lib/nginx", "/var/log/nginx"} {
		f.folder(dir, 0o755, 0)
	}
	return recipe{"docker.io/library/nginx:1.7.9", []filesystem{f}, v1.Config{
		Entrypoint: []string{"/usr/sbin/nginx", "-g", "daemon off;"}, WorkingDir: "/", StopSignal: "SIGQUIT",
		ExposedPorts: map[string]struct{}{"80/tcp": {}},
	}}, err
}

// distroless holds what static programs look for, as gcr.io/distroless/static does: users, certificates, a folder
// for temporary files.
func distroless() filesystem {
	// Mozilla's root certificates as Go's own module has them. Those that are trusted on conditions are left out: a file of
	// certificates cannot express conditions.
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // it cannot fail
		}
	}
	f := filesystem{}
	f.folder("/tmp", 0o1777, 0)
	f.folder("/root", 0o700, 0)
	f.folder("/home/nonroot", 0o700, 65532)
	f.file("/etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/sbin/nologin\n"+
		"nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n"+
		"nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"))
	f.file("/etc/group", 0o644, []byte("root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n"))
	f.file("/etc/nsswitch.conf", 0o644, []byte("hosts: files dns\n"))
	f.file("/etc/ssl/certs/ca-certificates.crt", 0o644, certificates.Bytes())
	return f
}

// build compiles a main package of the module in a folder for Linux on the given processor, as the Dockerfile does.
func build(ctx context.Context, module, pkg, ldflags, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "appservice-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "program")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", out, pkg)
	command.Dir = module
	command.Env = append(os.Environ(), "PWD="+command.Dir, "GOFLAGS=-mod=readonly", "GOWORK=off",
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=") // what the user has set for builds of their own would change the image
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot compile %s: %w: %s", pkg, err, bytes.TrimSpace(output))
	}
	return os.ReadFile(out)
}
