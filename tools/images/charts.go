package main

import (
	"io/fs"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// charts is the image of the charts that the operator serves, for an image volume: the counterpart of charts.Dockerfile.
func charts(wanted request) (recipe, error) {
	const folder = "helm-charts"
	files := os.DirFS(wanted.source)
	f := filesystem{}
	err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		f.file(path.Join("/", name), 0o644, content)
		return nil
	})
	if err != nil {
		return recipe{}, err
	}
	return recipe{
		tag: "example.com/appservice-operator-charts:v" + wanted.version, layers: []filesystem{f},
		config: v1.Config{WorkingDir: "/"},
	}, nil
}
