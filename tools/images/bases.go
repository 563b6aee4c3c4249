package main

import (
	"context"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// staticEnv is the environment that gcr.io/distroless/static sets.
var staticEnv = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"}

// staticBase stands in for the image that the manager's Dockerfile ends with.
func staticBase() recipe {
	return recipe{
		tag: "gcr.io/distroless/static:nonroot", layers: []filesystem{distroless()},
		config: v1.Config{User: "65532", WorkingDir: "/home/nonroot", Env: staticEnv},
	}
}

// golangBase stands in for the image of Go: a shell, certificates, and the same environment. Go itself is not copied but mounted.
func golangBase(ctx context.Context, wanted request) (recipe, error) {
	shell := filesystem{}
	if err := shell.addPackages(ctx, wanted.arch, [][]string{{"busybox-static"}}); err != nil {
		return recipe{}, err
	}
	found := false
	for _, place := range []string{"bin/busybox", "usr/bin/busybox"} {
		if _, there := shell[place]; there {
			shell.link("/bin/sh", "/"+place)
			found = true
		}
	}
	if !found {
		return recipe{}, fmt.Errorf("the package busybox-static has no busybox")
	}
	shell.folder("/usr/local/go", 0o755, 0)
	shell.folder("/go/pkg/mod", 0o755, 0)
	return recipe{
		tag: "docker.io/library/golang:latest", layers: []filesystem{distroless(), shell},
		config: v1.Config{
			WorkingDir: "/go",
			Env: []string{
				"PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
				"GOPATH=/go", "GOTOOLCHAIN=local", "GOCACHE=/root/.cache/go-build",
			},
		},
	}, nil
}

// opmBase stands in for the image of opm, on which the catalog's image is based.
func opmBase(wanted request) (recipe, error) {
	if wanted.file == "" {
		return recipe{}, fmt.Errorf("-file names no program")
	}
	binary, err := os.ReadFile(wanted.file)
	if err != nil {
		return recipe{}, err
	}
	f := distroless()
	f.file("/bin/opm", 0o755, binary)
	return recipe{
		tag: "quay.io/operator-framework/opm:latest", layers: []filesystem{f},
		config: v1.Config{User: "1001", WorkingDir: "/", Entrypoint: []string{"/bin/opm"}, Env: staticEnv},
	}, nil
}
