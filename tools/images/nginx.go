package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// nginxPackages are nginx of Debian and the libraries that it needs. Some are called otherwise in later releases.
func nginxPackages() [][]string {
	return [][]string{{"nginx"}, {"libc6"}, {"libcrypt1"}, {"libpcre2-8-0"}, {"libssl3t64", "libssl3"}, {"zlib1g"}}
}

// nginxConfiguration is that of the nginx image that everybody knows, as far as it can be seen from outside.
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
func nginx(ctx context.Context, wanted request) (recipe, error) {
	f := filesystem{}
	if err := f.addPackages(ctx, wanted.arch, nginxPackages()); err != nil {
		return recipe{}, err
	}
	f.file("/etc/nginx/nginx.conf", 0o644, []byte(nginxConfiguration))
	f.file("/usr/share/nginx/html/index.html", 0o644, []byte("<h1>Welcome to nginx!</h1>\n"))
	f.file("/etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/sbin/nologin\nnginx:x:101:101:nginx:/nonexistent:/sbin/nologin\n"))
	f.file("/etc/group", 0o644, []byte("root:x:0:\nnginx:x:101:\n"))
	for _, dir := range []string{"/run", "/var/lib/nginx", "/var/log/nginx"} {
		f.folder(dir, 0o755, 0)
	}
	return recipe{
		tag: "docker.io/library/nginx:1.7.9", layers: []filesystem{f},
		config: v1.Config{
			Entrypoint: []string{"/usr/sbin/nginx", "-g", "daemon off;"}, WorkingDir: "/", StopSignal: "SIGQUIT",
			ExposedPorts: map[string]struct{}{"80/tcp": {}},
		},
	}, nil
}

// addPackages unpacks packages of Debian, without their documentation: of each group of names the first that there is.
// Nothing is installed on this machine.
func (f filesystem) addPackages(ctx context.Context, arch string, packages [][]string) error {
	dir, err := os.MkdirTemp("", "appservice-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// apt-get drops its rights to download, to a user that has none in this folder unless we give them.
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // it holds public packages, and apt-get checks their sums
		return err
	}
	var names []string
	for _, p := range packages {
		known := slices.IndexFunc(p, func(name string) bool {
			return exec.CommandContext(ctx, "apt-cache", "show", name+":"+arch).Run() == nil
		})
		names = append(names, p[max(0, known)]+":"+arch) // where none is known, apt-get says so
	}
	download := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet", "download"}, names...)...)
	download.Dir = dir
	if output, err := download.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot download %s: %w: %s: run apt-get update first", strings.Join(names, ", "), err, lastLine(output))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", file).Output()
		if err != nil {
			return fmt.Errorf("cannot unpack %s: %w", filepath.Base(file), err)
		}
		if err := f.unpack(bytes.NewReader(content), isNeeded); err != nil {
			return fmt.Errorf("cannot unpack %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

// isNeeded says whether a program may look for the file.
func isNeeded(name string) bool {
	return !slices.ContainsFunc([]string{"usr/share/doc/", "usr/share/man/", "usr/share/lintian/", "/gconv/"}, func(part string) bool {
		return strings.Contains(name+"/", part)
	})
}

func lastLine(output []byte) string {
	text := strings.TrimSpace(string(output))
	return text[strings.LastIndex(text, "\n")+1:]
}
