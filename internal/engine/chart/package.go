package chart

import (
	"errors"
	"fmt"
	"io/fs"

	"helm.sh/helm/v3/pkg/chart/loader"
)

// PackageSuffix is the suffix of a packaged chart: if there is no folder DIR, DIR.tgz is read, as helm package
// creates it. A ConfigMap, whose entries have no folders, can hold no other chart.
const PackageSuffix = ".tgz"

// files reads the files of a chart from its folder, else from the package beside it.
func files(fsys fs.FS, dir string) ([]*loader.BufferedFile, error) {
	if _, err := fs.Stat(fsys, dir); !errors.Is(err, fs.ErrNotExist) {
		return read(fsys, dir)
	}
	packed, err := fsys.Open(dir + PackageSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is neither a folder of that name nor a %s%s: %w", dir, PackageSuffix, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	list, err := loader.LoadArchiveFiles(packed)
	if err != nil {
		return nil, fmt.Errorf("%s%s is not a chart as helm package makes it: %w", dir, PackageSuffix, err)
	}
	return list, nil
}
