package node

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"text/template"
)

// files are the settings of the programs, some of them templates.
//
//go:embed init.sh containerd.toml cni.json kubelet.yaml
var files embed.FS

func settings() []string { return []string{"init.sh", "containerd.toml", "cni.json", "kubelet.yaml"} }

// writeFiles makes the node's folder: programs, settings, certificates.
func (i *instance) writeFiles() error {
	for _, dir := range []string{"bin", "logs", "cni", "var/lib", "var/log", "var/tmp"} {
		if err := os.MkdirAll(i.path(dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink("/run", i.path("var", "run")); err != nil {
		return err
	}
	if err := os.WriteFile(i.path("resolv.conf"), []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return err
	}
	for _, name := range settings() {
		if err := i.writeSettings(name); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	if err := os.Rename(i.path("cni.json"), i.path("cni", "10-pods.conflist")); err != nil {
		return err
	}
	for _, c := range i.components() {
		if err := os.Symlink(i.programs[c.name], i.path("bin", c.name)); err != nil {
			return err
		}
	}
	return i.writeCredentials()
}

func (i *instance) writeSettings(name string) error {
	parsed, err := template.ParseFS(files, name)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	err = parsed.Execute(&content, map[string]string{
		"Dir": i.dir, "Cgroup": i.group(), "PodNetwork": podNetwork, "Address": linkOf(i.name).node.String(),
		"Shim": i.programs[shim],
	})
	if err != nil {
		return err
	}
	return os.WriteFile(i.path(name), content.Bytes(), 0o644)
}
