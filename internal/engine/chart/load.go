// Package chart loads Helm charts from a file system: the embedded one or a folder. It reads
// watches.yaml, which names them. It never touches a cluster.
package chart

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// Load reads the chart in folder dir of fsys, without what its .helmignore excludes, or in the package dir.tgz, and
// refuses one that cannot be used for any values: templates, expressions in them, or a fields.yaml that do not parse,
// or templates whose output differs between renders. The error wraps a Fault for each mistake that has a place. The
// values of the chart include the defaults of its fields.yaml.
func Load(fsys fs.FS, dir string) (*chart.Chart, error) { return loadAs(fsys, dir, checked) }

// LoadPublished is like Load for a chart that is served as it was published: what its templates may not do is refused
// when they do it, and a fields.yaml has no meaning.
func LoadPublished(fsys fs.FS, dir string) (*chart.Chart, error) {
	return loadAs(fsys, dir, func(files []*loader.BufferedFile) (*chart.Chart, error) {
		c, err := complete(files)
		if err != nil {
			return nil, err
		}
		_, err = Parse(c)
		return c, err
	})
}

func loadAs(fsys fs.FS, dir string, of func([]*loader.BufferedFile) (*chart.Chart, error)) (*chart.Chart, error) {
	list, err := files(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read chart %s: %w", dir, err)
	}
	c, err := of(list)
	if err != nil {
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, err)
	}
	return c, nil
}

// complete returns the chart that files are, with all its subcharts.
func complete(files []*loader.BufferedFile) (*chart.Chart, error) {
	if err := checkYAML(files); err != nil {
		return nil, err
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := checkDependencies(c); err != nil {
		return nil, err
	}
	if _, err := PodSecurity(c); err != nil {
		return nil, err
	}
	if _, err := ForeignKinds(c); err != nil {
		return nil, err
	}
	return c, nil
}

// checked returns the chart that files are, which was written for this operator.
func checked(files []*loader.BufferedFile) (*chart.Chart, error) {
	c, err := complete(files)
	if err != nil {
		return nil, err
	}
	if err := fields.Complete(c, "."); err != nil {
		return nil, ofFields(c, err)
	}
	if _, err := Parse(c); err != nil {
		return nil, err
	}
	if err := errors.Join(append(checkTemplates(c), checkKinds(c)...)...); err != nil {
		return nil, err
	}
	return c, checkExpressions(c)
}

// checkYAML checks the files that Helm reads as YAML, because Helm's errors do not name the line.
func checkYAML(files []*loader.BufferedFile) error {
	var faults []error
	for _, file := range files {
		if base := path.Base(file.Name); base != "Chart.yaml" && base != "values.yaml" ||
			strings.Contains(file.Name, "templates/") {
			continue
		}
		if line, column, message := YAMLMistake(string(file.Data)); message != "" {
			faults = append(faults, &Fault{Rule: RuleUnusable, File: file.Name, Line: line, Column: column, Message: message,
				Text: string(file.Data)})
		}
	}
	return errors.Join(faults...)
}

// checkDependencies looks for subcharts that Chart.yaml requires and that are missing.
func checkDependencies(c *chart.Chart) error {
	var missing []string
	for _, wanted := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(found *chart.Chart) bool { return found.Name() == wanted.Name }) {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("found in Chart.yaml, but missing in the folder charts: %s; run helm dependency update",
			strings.Join(missing, ", "))
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

// walk is like fs.WalkDir, but does not follow links to folders.
func walk(fsys fs.FS, dir string, visit fs.WalkDirFunc) error {
	return fs.WalkDir(fsys, dir, func(p string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			if info, err := fs.Stat(fsys, p); err == nil && info.IsDir() {
				if loops(fsys, p, info) {
					return fmt.Errorf("%s is a link to a folder that it is in, which has no end: remove the link", p)
				}
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

// loops reports whether one of the folders on the way to a link is the one that it leads to.
func loops(fsys fs.FS, link string, target fs.FileInfo) bool {
	for dir := link; dir != "."; {
		dir = path.Dir(dir)
		if above, err := fs.Stat(fsys, dir); err == nil && os.SameFile(above, target) {
			return true
		}
	}
	return false
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
		sorted := slices.SortedFunc(slices.Values(c.Dependencies()),
			func(a, b *chart.Chart) int { return strings.Compare(a.Name(), b.Name()) })
		for _, dependency := range sorted {
			add(prefix+dependency.Name()+"/", dependency)
		}
	}
	add("", c)
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// Size returns how many bytes the files of a chart have, subcharts included.
func Size(c *chart.Chart) int {
	size := 0
	for _, file := range c.Raw {
		size += len(file.Data)
	}
	for _, dependency := range c.Dependencies() {
		size += Size(dependency)
	}
	return size
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
