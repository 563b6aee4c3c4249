package cli

import (
	"io/fs"
	"strings"

	"github.com/example/appservice-operator/config"
)

// shipped are the files of an installation that this program was built with, with the paths that they have in the repository.
var shipped fs.FS = below{config.Files, "config/"}

// below shows a file system in a folder.
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
