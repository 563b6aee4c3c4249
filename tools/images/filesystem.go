package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// filesystem is the content of a layer: entries by their path, without a slash at either end. Everything belongs to
// root unless an entry says otherwise.
type filesystem map[string]entry

type entry struct {
	tar.Header
	content []byte
}

func (f filesystem) file(name string, mode int64, content []byte) {
	f[clean(name)] = entry{tar.Header{Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(content))}, content}
}

func (f filesystem) folder(name string, mode int64, owner int) {
	f[clean(name)] = entry{tar.Header{Typeflag: tar.TypeDir, Mode: mode, Uid: owner, Gid: owner}, nil}
}

func (f filesystem) link(name, target string) {
	f[clean(name)] = entry{tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: target}, nil}
}

// copy adds the files below a folder of this machine, as files that everybody may read.
func (f filesystem) copy(to, from string) error {
	files := os.DirFS(from)
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		f.file(path.Join(to, name), 0o644, content)
		return err
	})
}

func clean(name string) string { return strings.Trim(path.Clean("/"+name), "/") }

// layer packs the entries in order of their paths, without times: the same entries make the same layer. Folders on the
// way to an entry are added.
func (f filesystem) layer() (v1.Layer, error) {
	all := maps.Clone(f)
	for name := range f {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, there := all[dir]; !there {
				all.folder(dir, 0o755, 0)
			}
		}
	}
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		if e.Format, e.Name = tar.FormatPAX, name; e.Typeflag == tar.TypeDir {
			e.Name += "/"
		}
		if err := archive.WriteHeader(&e.Header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressedCaching)
}

// documentation are parts of paths that no program looks for, and those of character sets, which ours do not use.
var documentation = []string{"usr/share/doc/", "usr/share/man/", "usr/share/lintian/", "/gconv/"}

// unpack adds the entries of a tar archive that programs may look for. Owners and times are dropped.
func (f filesystem) unpack(archive io.Reader) error {
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := clean(header.Name)
		needless := func(part string) bool { return strings.Contains(name+"/", part) }
		if name == "" || slices.ContainsFunc(documentation, needless) {
			continue
		}
		switch header.Typeflag {
		case tar.TypeReg:
			content, err := io.ReadAll(reader)
			if err != nil {
				return err
			}
			f.file(name, header.Mode, content)
		case tar.TypeDir:
			f.folder(name, header.Mode, 0)
		case tar.TypeSymlink:
			f.link(name, header.Linkname)
		case tar.TypeLink:
			f[name] = f[clean(header.Linkname)]
		}
	}
}

// addPackages unpacks packages of Debian, without their documentation. If names have a bar between them, it takes the
// first that exists. Nothing is installed on this machine.
func (f filesystem) addPackages(ctx context.Context, arch string, packages ...string) error {
	dir, err := os.MkdirTemp("", "appservice-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// apt-get drops its rights to download, to a user that has none in this folder unless we grant them.
	if err := os.Chmod(dir, 0o777); err != nil {
		return err
	}
	download := exec.CommandContext(ctx, "apt-get", "--quiet", "download")
	download.Dir = dir
	for _, p := range packages {
		names := strings.Split(p, "|")
		known := slices.IndexFunc(names, func(name string) bool {
			return exec.CommandContext(ctx, "apt-cache", "show", name+":"+arch).Run() == nil
		})
		download.Args = append(download.Args, names[max(0, known)]+":"+arch) // where none is known, apt-get says so
	}
	if output, err := download.CombinedOutput(); err != nil {
		said := bytes.TrimSpace(output)
		return fmt.Errorf("%s: %w: %s: run apt-get update first", strings.Join(download.Args, " "), err, said)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", file).Output()
		if err == nil {
			err = f.unpack(bytes.NewReader(content))
		}
		if err != nil {
			return fmt.Errorf("cannot unpack %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}
