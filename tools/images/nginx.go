package main

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// nginxPackages are nginx of Debian and the libraries that it needs. Some are called otherwise in later releases.
func nginxPackages() [][]string {
	return [][]string{{"nginx"}, {"libc6"}, {"libcrypt1"}, {"libpcre2-8-0"}, {"libssl3t64", "libssl3"}, {"zlib1g"}}
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
