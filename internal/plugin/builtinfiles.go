package plugin

import (
	"io/fs"
	"strings"

	"github.com/example/appservice-operator/config"
)

// builtInFiles contains the built-in files of an installation, under the same paths as in the repository.
var builtInFiles fs.FS = below{config.Files, "config/"}

// below is a file system mounted in a folder, a prefix that ends with a slash.
type below struct {
	fs.FS
	folder string
}

// Open implements fs.FS.
func (b below) Open(name string) (fs.File, error) {
	inner, found := strings.CutPrefix(name, b.folder)
	if !found {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return b.FS.Open(inner)
}
