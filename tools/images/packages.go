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
)

// addPackages unpacks packages of Debian, without their documentation: of each group of names the first that there is.
// Nothing is installed on this machine.
func (f filesystem) addPackages(ctx context.Context, arch string, packages [][]string) error {
	dir, err := os.MkdirTemp("", "appservice-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// apt-get drops its rights to download, to a user that has none in this folder unless we grant them.
	if err := os.Chmod(dir, 0o777); err != nil {
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
