// Package chart loads Helm charts from a file system: the embedded one or a folder. It never touches a cluster.
package chart

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/ignore"

	"github.com/example/appservice-operator/internal/fields"
)

// Load reads the chart in folder dir of fsys, less what its .helmignore names, or in the package dir.tgz, and refuses one whose
// templates, expressions in them, or fields.yaml do not parse: the error then names file and line. Its values have the defaults of its
// fields.yaml.
func Load(fsys fs.FS, dir string) (*chart.Chart, error) {
	list, err := files(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read chart %s: %w", dir, err)
	}
	c, err := loader.LoadFiles(list)
	if err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	if err := checkDependencies(c); err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	if _, err := PodSecurity(c); err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	if err := fields.Complete(c, dir); err != nil {
		return nil, err
	}
	if err := parse(c); err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	if err := checkExpressions(c); err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	return c, nil
}

// checkDependencies looks for subcharts that Chart.yaml asks for and that are not there.
func checkDependencies(c *chart.Chart) error {
	var missing []string
	for _, wanted := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(there *chart.Chart) bool { return there.Name() == wanted.Name }) {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("found in Chart.yaml, but missing in the folder charts: %s; run helm dependency update", strings.Join(missing, ", "))
	}
	return nil
}

func read(fsys fs.FS, dir string) ([]*loader.BufferedFile, error) {
	rules, err := readIgnore(fsys, path.Join(dir, ".helmignore"))
	if err != nil {
		return nil, err
	}
	var files []*loader.BufferedFile
	visit := func(p string, _ fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := fs.Stat(fsys, p)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(p, dir+"/")
		switch {
		case rules.Ignore(name, info):
			if info.IsDir() {
				return fs.SkipDir
			}
			return nil
		case info.IsDir():
			return nil
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		files = append(files, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(data, []byte("\ufeff"))})
		return nil
	}
	err = walk(fsys, dir, visit)
	return files, err
}

// walk is fs.WalkDir, which does not follow links to folders.
func walk(fsys fs.FS, dir string, visit fs.WalkDirFunc) error {
	return fs.WalkDir(fsys, dir, func(p string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			if info, err := fs.Stat(fsys, p); err == nil && info.IsDir() {
				if err := visit(p, entry, nil); errors.Is(err, fs.SkipDir) {
					return nil
				}
				entries, err := fs.ReadDir(fsys, p)
				if err != nil {
					return err
				}
				for _, e := range entries {
					if err := walk(fsys, path.Join(p, e.Name()), visit); err != nil {
						return err
					}
				}
				return nil
			}
		}
		return visit(p, entry, err)
	})
}

// parse renders the chart with its own defaults and keeps only what tells of a template that does not
// parse: with defaults alone a sound chart may well refuse to render.
func parse(c *chart.Chart) error {
	values, err := chartutil.ToRenderValuesWithSchemaValidation(c, nil,
		chartutil.ReleaseOptions{Name: "parse", Namespace: "parse"}, chartutil.DefaultCapabilities, true)
	if err != nil {
		return err
	}
	_, err = engine.Engine{}.Render(c, values)
	if err != nil && strings.HasPrefix(err.Error(), "parse error at ") {
		return err
	}
	return nil
}

// Digest identifies the content of a chart, subcharts included: 32 hexadecimal characters of its SHA-256.
func Digest(c *chart.Chart) string {
	sum := sha256.New()
	var add func(prefix string, c *chart.Chart)
	add = func(prefix string, c *chart.Chart) {
		for _, file := range c.Raw {
			fmt.Fprintf(sum, "%s%s %d\n", prefix, file.Name, len(file.Data))
			sum.Write(file.Data)
		}
		sorted := slices.SortedFunc(slices.Values(c.Dependencies()), func(a, b *chart.Chart) int { return strings.Compare(a.Name(), b.Name()) })
		for _, dependency := range sorted {
			add(prefix+dependency.Name()+"/", dependency)
		}
	}
	add("", c)
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

func readIgnore(fsys fs.FS, name string) (*ignore.Rules, error) {
	rules := ignore.Empty()
	file, err := fsys.Open(name)
	switch {
	case err == nil:
		defer file.Close()
		if rules, err = ignore.Parse(file); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	rules.AddDefaults()
	return rules, nil
}
