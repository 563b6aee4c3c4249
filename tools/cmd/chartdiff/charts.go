package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing/fstest"

	"github.com/example/appservice-operator/internal/plugin/preview"
)

const watchesFile = "watches.yaml"

// load reads charts from a folder or from a commit. A folder without a watches.yaml, such as one for --chart-dir, uses
// that of this program.
func load(ctx context.Context, root, source string) (*preview.Charts, error) {
	var files fs.FS
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		files = os.DirFS(source)
	} else if files, err = committed(ctx, root, source); err != nil {
		return nil, err
	}
	return preview.LoadCharts(files)
}

// committed returns watches.yaml and the charts of a commit.
func committed(ctx context.Context, root, commit string) (fs.FS, error) {
	command := exec.CommandContext(ctx, "git", "-C", root, "archive", "--format=tar", commit, "--", watchesFile, "helm-charts")
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%q is not a folder, and git cannot read it as a commit: %s", commit, strings.Join(strings.Fields(complaint.String()), " "))
	}
	files := fstest.MapFS{}
	archive := tar.NewReader(bytes.NewReader(out))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		files[header.Name] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
}
