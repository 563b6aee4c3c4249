// Package kinds generates files from watches.yaml and the CRDs in config/crd/bases: roles, kustomizations and the links of the chart that installs
// the operator. It also creates the first files of a new kind. It changes files, and needs no cluster.
package kinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

const watchesFile = "watches.yaml"

// kind is one entry of watches.yaml with its CRD.
type kind struct {
	Group, Version, Kind, Chart string
	appchart.Published          `json:",inline"`

	crd      *apiextensionsv1.CustomResourceDefinition
	file     string                          // of the CRD
	declared *fields.File                    // what the chart declares; nil if it declares nothing
	defined  map[schema.GroupKind]definition // what a published chart brings
}

// name is the base of the names of files and roles.
func (k kind) name() string { return strings.ToLower(k.Kind) }

// sample is the file of the first sample, called as kubebuilder does.
func (k kind) sample() string {
	prefix, _, _ := strings.Cut(k.Group, ".")
	return prefix + "_" + k.Version + "_" + k.name() + ".yaml"
}

func (k kind) plural() string { return k.crd.Spec.Names.Plural }

// scales reports whether kubectl scale works on the kind.
func (k kind) scales() bool {
	return slices.ContainsFunc(k.crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Subresources != nil && v.Subresources.Scale != nil
	})
}

// Generate writes all files that are generated from watches.yaml below folder root.
func Generate(root string) error {
	list, err := served(root)
	if err != nil {
		return err
	}
	for _, k := range list {
		for _, who := range people {
			if err := os.WriteFile(filepath.Join(root, "config/rbac", k.roleFile(who)), []byte(k.role(who)), 0o644); err != nil {
				return err
			}
			if err := link(root, filepath.Join("config/chart/files", k.roleFile(who)), "../../rbac/"+k.roleFile(who)); err != nil {
				return err
			}
		}
		if err := link(root, filepath.Join("config/chart/crds", k.file), "../../crd/bases/"+k.file); err != nil {
			return err
		}
	}
	for file, lines := range map[string][]string{
		"config/crd/kustomization.yaml":  each(list, func(k kind) []string { return []string{"bases/" + k.file} }),
		"config/rbac/kustomization.yaml": each(list, kind.roleFiles),
		// Consoles offer the first sample of a kind.
		"config/samples/kustomization.yaml": each(list, func(k kind) []string { return []string{k.sample()} }),
	} {
		if err := replace(filepath.Join(root, file), lines); err != nil {
			return err
		}
	}
	if err := grants(root, list); err != nil {
		return err
	}
	if err := admit(root, list); err != nil {
		return err
	}
	if err := offer(root, list); err != nil {
		return err
	}
	if err := refresh(root, list); err != nil {
		return err
	}
	return describe(root, list)
}

// served reads watches.yaml and the CRDs. The list is in the order of the former.
func served(root string) ([]kind, error) {
	list, err := withCRDs(root)
	if err != nil {
		return nil, err
	}
	for i, k := range list {
		if err := list[i].read(root); err != nil {
			return nil, err
		}
		switch {
		case k.crd == nil && k.Is():
			return nil, fmt.Errorf("watches.yaml: %s has no CRD in config/crd/bases: make kind FROM=%s KIND=%s writes it", k.Kind, k.Chart, k.Kind)
		case k.crd == nil:
			return nil, fmt.Errorf("watches.yaml: %s has no CRD in config/crd/bases: declare its fields in %s/fields.yaml", k.Kind, k.Chart)
		}
	}
	return list, nil
}

// withCRDs reads watches.yaml and the CRDs that exist.
func withCRDs(root string) ([]kind, error) {
	list, err := entries(root)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			return nil, fmt.Errorf("cannot parse %s: %w", file, err)
		}
		for i := range list {
			if list[i].Group == crd.Spec.Group && list[i].Kind == crd.Spec.Names.Kind {
				list[i].crd, list[i].file = crd, filepath.Base(file)
			}
		}
	}
	return list, nil
}

// entries reads watches.yaml.
func entries(root string) ([]kind, error) {
	text, err := os.ReadFile(filepath.Join(root, watchesFile))
	if err != nil {
		return nil, err
	}
	var list []kind
	if err := yaml.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", watchesFile, err)
	}
	return list, nil
}

// PublishedKind is a kind whose chart is served as it was published.
type PublishedKind struct {
	Chart    string // its folder
	Option   string // the name of the right to serve it
	Resource schema.GroupResource
}

// PublishedKinds returns those of watches.yaml.
func PublishedKinds(root string) ([]PublishedKind, error) {
	list, err := entries(root)
	var found []PublishedKind
	for _, k := range list {
		if k.Is() {
			found = append(found, PublishedKind{k.Chart, k.name(), schema.GroupResource{Group: k.Group, Resource: k.guessed()}})
		}
	}
	return found, err
}

// read reads what the chart declares, or, of one of others, what it defines.
func (k *kind) read(root string) error {
	if k.Is() {
		found, err := definedBy(root, k.Chart)
		k.defined = found
		return err
	}
	name := path.Join(k.Chart, fields.Name)
	text, err := os.ReadFile(filepath.Join(root, name))
	if err == nil {
		k.declared, err = fields.Parse(name, text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// each lists files of all kinds, as kustomizations do.
func each(list []kind, files func(kind) []string) []string {
	var lines []string
	for _, k := range list {
		for _, file := range files(k) {
			lines = append(lines, "- "+file)
		}
	}
	return lines
}

// link creates a symbolic link, unless it exists.
func link(root, at, to string) error {
	err := os.Symlink(to, filepath.Join(root, at))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Generate writes between these lines of a file.
const (
	begin = "# From watches.yaml, by make generate:"
	end   = "# The end of what make generate writes."
)

// replace writes lines between the marks in a file.
func replace(file string, lines []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, opened := strings.Cut(string(text), begin+"\n")
	_, after, closed := strings.Cut(rest, end+"\n")
	if !opened || !closed {
		return fmt.Errorf("%s must have the lines %q and %q, with what is generated between them", file, begin, end)
	}
	between := ""
	if len(lines) > 0 {
		between = strings.Join(lines, "\n") + "\n"
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+between+end+"\n"+after), 0o644)
}
