package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// root is the folder of the repository: the program runs in its module's, tools/images.
var root = filepath.Join("..", "..")

// manager is the operator's image, the counterpart of the Dockerfile.
func manager(ctx context.Context, wanted request) (recipe, error) {
	const module = "github.com/example/appservice-operator"
	binary, err := program{
		source: wanted.source, path: "./cmd/manager", ldflags: "-X " + module + "/internal/version.Version=" + wanted.version,
	}.build(ctx, wanted.arch)
	if err != nil {
		return recipe{}, err
	}
	f := filesystem{}
	f.file("/manager", 0o755, binary)
	return recipe{
		tag:    "example.com/appservice-operator:v" + wanted.version,
		layers: []filesystem{distroless(), f},
		config: v1.Config{
			User: "65532:65532", Entrypoint: []string{"/manager"}, WorkingDir: "/",
			Env: staticEnv,
			Labels: map[string]string{
				"org.opencontainers.image.title":    "appservice-operator",
				"org.opencontainers.image.version":  wanted.version,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
	}, nil
}

// distroless holds what static programs look for, as gcr.io/distroless/static does: users, certificates, a folder
// for temporary files.
func distroless() filesystem {
	f := filesystem{}
	f.folder("/tmp", 0o1777, 0)
	f.folder("/root", 0o700, 0)
	f.folder("/home/nonroot", 0o700, 65532)
	f.file("/etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/sbin/nologin\n"+
		"nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n"+
		"nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"))
	f.file("/etc/group", 0o644, []byte("root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n"))
	f.file("/etc/nsswitch.conf", 0o644, []byte("hosts: files dns\n"))
	f.file("/etc/ssl/certs/ca-certificates.crt", 0o644, certificates())
	return f
}

// certificates returns Mozilla's root certificates as Go's own module has them. Those that are trusted on conditions
// are left out: a file of certificates cannot express conditions.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return out.Bytes()
}
