package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// filesystem is the content of a layer: entries by their path, without a slash at either end. Everything belongs to root unless an entry says
// otherwise.
type filesystem map[string]entry

// entry is a file, or a folder or symbolic link if these are set.
type entry struct {
	mode    int64
	content []byte
	folder  bool
	target  string // of a symbolic link
	owner   int    // user and group
}

func (f filesystem) file(name string, mode int64, content []byte) {
	f[clean(name)] = entry{mode: mode, content: content}
}

func (f filesystem) folder(name string, mode int64, owner int) {
	f[clean(name)] = entry{mode: mode, folder: true, owner: owner}
}

func (f filesystem) link(name, target string) {
	f[clean(name)] = entry{mode: 0o777, target: target}
}

// layer packs the entries in order of their paths, without times: the same entries make the same layer. Folders on the
// way to an entry are added.
func (f filesystem) layer() (v1.Layer, error) {
	all := maps.Clone(f)
	for name := range f {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, there := all[dir]; !there {
				all[dir] = entry{mode: 0o755, folder: true}
			}
		}
	}
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		if err := archive.WriteHeader(e.header(name)); err != nil {
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

func (e entry) header(name string) *tar.Header {
	header := &tar.Header{
		Format: tar.FormatPAX, Typeflag: tar.TypeReg, Name: name, Mode: e.mode, Size: int64(len(e.content)),
		Uid: e.owner, Gid: e.owner,
	}
	switch {
	case e.folder:
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
	case e.target != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.target
	}
	return header
}

// unpack adds the entries of a tar archive that keep accepts. Owners and times are dropped.
func (f filesystem) unpack(archive io.Reader, keep func(name string) bool) error {
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
		if name == "" || !keep(name) {
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

func clean(name string) string { return strings.Trim(path.Clean("/"+name), "/") }
