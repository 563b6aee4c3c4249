package dockerfiles

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
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// aFolder begins what is compared of a folder.
const aFolder = string(rune(tar.TypeDir)) + " "

// entry is what is compared of a file in an image. Times are not.
func entry(header *tar.Header, content []byte) string {
	return fmt.Sprintf("%c %o %d:%d %s %s",
		header.Typeflag, header.Mode&0o7777, header.Uid, header.Gid, header.Linkname, digest(string(content)))
}

func digest(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

// contents are the entries of an image by their path, and its settings by their names, which begin with "the ".
func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	found := map[string]string{
		"the platform":    file.OS + "/" + file.Architecture,
		"the user":        c.User,
		"the entry point": fmt.Sprintf("%q", c.Entrypoint),
		"the command":     fmt.Sprintf("%q", c.Cmd),
		"the environment": fmt.Sprintf("%q", slices.Sorted(slices.Values(c.Env))),
		"the folder":      cmp.Or(c.WorkingDir, "/"),
		"the labels":      fmt.Sprintf("%q", c.Labels),
	}
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	for archive := tar.NewReader(flat); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.Trim(path.Clean("/"+header.Name), "/"); name != "" {
			found[name] = entry(header, content)
		}
	}
}

// folder are the files below a folder as an image has them that copies it.
func folder(t *testing.T, from, to string) map[string]string {
	t.Helper()
	found, files := map[string]string{}, os.DirFS(from)
	err := fs.WalkDir(files, ".", func(name string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() {
			return err
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(filepath.Join(from, name))
		found[path.Join(to, name)] = entry(&tar.Header{Typeflag: tar.TypeReg, Mode: int64(info.Mode().Perm())}, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// same names what differs, some names left out.
func same(t *testing.T, got, want map[string]string, without ...string) {
	t.Helper()
	if diff := differences(got, want, without...); len(diff) > 0 {
		t.Errorf("%d differences: %s", len(diff), strings.Join(diff[:min(10, len(diff))], "; "))
	}
}

func differences(got, want map[string]string, without ...string) (list []string) {
	names := maps.Clone(got)
	maps.Copy(names, want)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch g, w := got[name], want[name]; {
		case g == w || slices.Contains(without, name):
		case g == "":
			list = append(list, name+" is missing")
		case w == "":
			list = append(list, name+" is too much")
		default:
			list = append(list, fmt.Sprintf("%s is %s, want %s", name, g, w))
		}
	}
	return list
}

func TestDifferences(t *testing.T) {
	got := differences(
		map[string]string{"a": "1", "b": "2", "c": "3", "e": "5"}, map[string]string{"a": "1", "b": "3", "d": "4"}, "e")
	if want := []string{"b is 2, want 3", "c is too much", "d is missing"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
