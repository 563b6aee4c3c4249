package main

import (
	"archive/tar"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// entry is what is compared of a file in an image. Times are not.
type entry struct {
	kind     byte
	mode     int64
	uid, gid int
	target   string // of a link
	digest   [sha256.Size]byte
}

// contents are the entries of an image by their path.
func contents(image v1.Image) (map[string]entry, error) {
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	found := map[string]entry{}
	for archive := tar.NewReader(flat); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		name := strings.Trim(path.Clean("/"+header.Name), "/")
		if name == "" {
			continue
		}
		one := entry{kind: header.Typeflag, mode: header.Mode & 0o7777, uid: header.Uid, gid: header.Gid, target: header.Linkname}
		sum := sha256.New()
		if _, err := io.Copy(sum, archive); err != nil {
			return nil, err
		}
		copy(one.digest[:], sum.Sum(nil))
		found[name] = one
	}
}

// folder are the files below a folder as an image has them that copies it.
func folder(from, to string) (map[string]entry, error) {
	found := map[string]entry{}
	err := filepath.WalkDir(from, func(name string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		found[path.Join(to, filepath.ToSlash(below))] = entry{kind: tar.TypeReg, mode: int64(info.Mode().Perm()), digest: sha256.Sum256(content)}
		return nil
	})
	return found, err
}

// files are the entries that are not folders.
func files(all map[string]entry) map[string]entry {
	found := maps.Clone(all)
	maps.DeleteFunc(found, func(_ string, one entry) bool { return one.kind == tar.TypeDir })
	return found
}

// below are the entries in a folder of an image.
func below(all map[string]entry, folder string) map[string]entry {
	found := maps.Clone(all)
	maps.DeleteFunc(found, func(name string, _ entry) bool { return !strings.HasPrefix(name, folder+"/") })
	return found
}

// same returns an error that names what differs.
func same[V comparable](got, want map[string]V) error {
	names := maps.Clone(got)
	maps.Copy(names, want)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		g, there := got[name]
		w, wanted := want[name]
		switch {
		case !there:
			differ = append(differ, name+" is missing")
		case !wanted:
			differ = append(differ, name+" is too much")
		case g != w:
			differ = append(differ, fmt.Sprintf("%s is %v, want %v", name, g, w))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	const most = 10
	return fmt.Errorf("%d differences: %s", len(differ), strings.Join(differ[:min(most, len(differ))], "; "))
}

// settings are those of an image, by their names.
func settings(image v1.Image) (map[string]string, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	c := file.Config
	return map[string]string{
		"platform":    file.OS + "/" + file.Architecture,
		"user":        c.User,
		"entry point": fmt.Sprintf("%q", c.Entrypoint),
		"command":     fmt.Sprintf("%q", c.Cmd),
		"environment": fmt.Sprintf("%q", slices.Sorted(slices.Values(c.Env))),
		"folder":      cmp.Or(c.WorkingDir, "/"),
		"labels":      fmt.Sprintf("%q", labels(c)),
	}, nil
}

func labels(c v1.Config) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
		found = append(found, name+"="+c.Labels[name])
	}
	return found
}
