package kinds

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
)

// skeleton are the files that a kind begins with, below the folders where they belong. Helm has templates of its own
// in them, so what depends on the kind are words that nothing else uses.
//
//go:embed all:skeleton
var skeleton embed.FS

// kindName is the pattern of kinds that the API server accepts, and that can be the base of the names of a chart, a
// sample and roles.
var kindName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,39}$`)

// Scaffold creates the first files of a kind: a chart with its fields and tests, a sample, a golden case and an entry
// in watches.yaml. It returns their names, below root. No existing file is changed but watches.yaml.
func Scaffold(root, name string) ([]string, error) {
	if !kindName.MatchString(name) {
		return nil, fmt.Errorf("%q cannot be a kind: it begins with a capital letter and has letters and digits, as in AppJob, at most 40", name)
	}
	k := kind{Group: v1.GroupVersion.Group, Version: v1.GroupVersion.Version, Kind: name}
	k.Chart = "helm-charts/" + k.name()
	if err := unknown(root, k); err != nil {
		return nil, err
	}
	files, err := k.files()
	if err != nil {
		return nil, err
	}
	for name := range files {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is there already: take another name, or move it away", name)
		}
	}
	made := []string{"watches.yaml"}
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	slices.Sort(made)
	return made, register(root, k)
}

// unknown returns an error if watches.yaml names a kind, or one that differs only in capital letters.
func unknown(root string, k kind) error {
	list, err := entries(root)
	if err != nil {
		return err
	}
	for _, other := range list {
		if other.name() == k.name() {
			return fmt.Errorf("%s has %s already", watchesFile, other.Kind)
		}
	}
	return nil
}

// files are the files of a kind, by name.
func (k kind) files() (map[string]string, error) {
	words := strings.NewReplacer("KIND__", k.Kind, "NAME__", k.name(), "GROUP__", k.Group, "VERSION__", k.Version, "SAMPLE__", k.sample())
	files := map[string]string{}
	err := fs.WalkDir(skeleton, "skeleton", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := skeleton.ReadFile(name)
		files[words.Replace(strings.TrimPrefix(name, "skeleton/"))] = words.Replace(string(text))
		return err
	})
	return files, err
}

// register adds a kind to watches.yaml.
func register(root string, k kind) error {
	return appendEntry(root, fmt.Sprintf("- group: %s\n  version: %s\n  kind: %s\n  chart: %s\n", k.Group, k.Version, k.Kind, k.Chart))
}

// appendEntry adds an entry to watches.yaml, whose comments stay.
func appendEntry(root, entry string) error {
	file := filepath.Join(root, watchesFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.TrimRight(string(text), "\n")+"\n"+entry), 0o644)
}
