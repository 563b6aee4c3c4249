package kinds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/render"
)

// ownDefinitions has the definitions of kinds that published charts bring, a file for each chart.
const ownDefinitions = "config/crd/published"

// Wanted says which chart of others becomes which kind.
type Wanted struct {
	// From is the chart: a folder, or a package.
	From string
	// Kind and Group are by default the name of the chart, and the group of this operator.
	Kind, Group string
	// Names are those of the resources whose roles the operator may write by name.
	Names []string
}

// Publish makes a kind of a chart of others, or brings one up to date whose chart has another version: the chart, the
// CRD, a sample, a golden case and an entry in watches.yaml. An entry stays as it is. It returns the names of the
// files, below root, and remarks for the user.
func Publish(root string, p Wanted) (made, remarks []string, err error) {
	text, err := readPackage(p.From)
	if err != nil {
		return nil, nil, err
	}
	c, err := loadPublished(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.From, err)
	}
	k, err := p.kind(c)
	if err != nil {
		return nil, nil, err
	}
	known, err := registered(root, k)
	if err != nil {
		return nil, nil, err
	}
	list, err := withCRDs(root)
	if err != nil {
		return nil, nil, err
	}
	like, err := typical(list)
	if err != nil {
		return nil, nil, err
	}
	s, err := look(c, p.Names)
	if err != nil {
		return nil, nil, err
	}
	if len(s.kinds) == 0 {
		return nil, nil, fmt.Errorf("%s renders nothing, and its templates name no kind", p.From)
	}
	spec, open := valuesOf(c)
	definition, err := k.crdFile(like, c, spec)
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{"config/crd/bases/" + k.Group + "_" + k.guessed() + ".yaml": string(definition)}
	own := filepath.Join(ownDefinitions, c.Name()+".yaml")
	if files[own], err = s.definitions(); err != nil {
		return nil, nil, err
	}
	if files[own] == "" {
		delete(files, own)
	} else {
		remarks = append(remarks, "The chart brings kinds of its own. Nothing installs them but you: kubectl apply --server-side -f "+own)
		if !named(files[own]) {
			remarks = append(remarks, "They name objects of a release: replace "+anyName+" in the file by the name of the resource.")
		}
	}
	if known == nil {
		resource, golden := "first-"+k.name(), "minimal"
		if len(p.Names) > 0 {
			resource, golden = p.Names[0], p.Names[0] // grants have its roles only
		}
		files[filepath.Join("config/samples", k.sample())] = "# Begin: " + k.Kind + "\n" + k.resource(resource)
		// Without a spec that it renders, there is nothing to compare.
		if refused := k.try(c, s, golden); refused == nil {
			files[filepath.Join("test/testdata/kinds", c.Name(), "minimal/cr.yaml")] = k.resource(golden)
		} else {
			remarks = append(remarks, "The sample is refused, so complete it, and add a golden case: "+oneLine(refused))
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(files)), filepath.Join(rbac.OptionFolder, k.name())) {
		if _, err := os.Lstat(filepath.Join(root, name)); known == nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("%s is there already: take another name, as in KIND=My%s, or move it away", name, k.Kind)
		}
	}
	if err := k.unpack(root, text); err != nil {
		return nil, nil, err
	}
	_ = os.Remove(filepath.Join(root, own)) // of another version
	for name, text := range files {
		if err := write(root, name, text); err != nil {
			return nil, nil, err
		}
		made = append(made, name)
	}
	if known == nil {
		made = append(made, watchesFile)
		err = appendEntry(root, k.published(s))
	}
	made = append(made, k.Chart)
	slices.Sort(made)
	return made, slices.Concat(s.remarks(c, known), remarks, openValues(open)), err
}

// loadPublished loads a chart as the operator does.
func loadPublished(files []*loader.BufferedFile) (*helmchart.Chart, error) {
	folder := fstest.MapFS{}
	for _, file := range files {
		folder["chart/"+file.Name] = &fstest.MapFile{Data: file.Data}
	}
	return appchart.LoadPublished(folder, "chart")
}

// try renders a resource that sets nothing as the operator does.
func (k kind) try(c *helmchart.Chart, s *survey, name string) error {
	watch := appchart.Watch{Watch: watches.Watch{GroupVersionKind: schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}}, Published: k.Published}
	for _, kind := range s.kinds {
		watch.Renders = append(watch.Renders, kind.what)
	}
	watch.Grants = s.granted()
	resource := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(k.resource(name)), &resource.Object); err != nil {
		return err
	}
	resource.SetNamespace("default")
	resource.SetUID(render.PlaceholderUID)
	_, err := render.For(watch, c).Render(context.Background(), resource, s.capabilities)
	return err
}

// kind returns the entry for a chart.
func (p Wanted) kind(c *helmchart.Chart) (kind, error) {
	k := kind{Group: p.Group, Version: v1.GroupVersion.Version, Kind: p.Kind, Chart: "helm-charts/" + c.Name()}
	if k.Group == "" {
		k.Group = v1.GroupVersion.Group
	}
	if k.Kind == "" {
		for _, word := range strings.FieldsFunc(c.Name(), func(r rune) bool { return strings.ContainsRune("-_.", r) }) {
			k.Kind += capital(word)
		}
	}
	if !kindName.MatchString(k.Kind) {
		return k, fmt.Errorf("%q cannot be a kind: give it one, as in KIND=AppJob", k.Kind)
	}
	k.From = appchart.FromPublished
	return k, nil
}

// readPackage returns the files of a chart: all of a folder, and what a package has.
func readPackage(from string) ([]*loader.BufferedFile, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		file, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return loader.LoadArchiveFiles(file)
	}
	var list []*loader.BufferedFile
	err = filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		list = append(list, &loader.BufferedFile{Name: filepath.ToSlash(below), Data: text})
		return err
	})
	return list, err
}

// unpack writes the files of a chart to its folder, in place of those of another version.
func (k kind) unpack(root string, files []*loader.BufferedFile) error {
	if err := os.RemoveAll(filepath.Join(root, k.Chart)); err != nil {
		return err
	}
	for _, file := range files {
		if err := write(root, filepath.Join(k.Chart, filepath.FromSlash(file.Name)), string(file.Data)); err != nil {
			return err
		}
	}
	return nil
}

func write(root, name, text string) error {
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// registered returns the entry of watches.yaml for a published kind; nil if there is none. It returns an error if the
// kind or the folder of the chart is that of something else.
func registered(root string, k kind) (*kind, error) {
	list, err := entries(root)
	if err != nil {
		return nil, err
	}
	for _, other := range list {
		switch {
		case other.Group == k.Group && other.Kind == k.Kind && other.Chart == k.Chart && other.Is():
			return &other, nil
		case other.name() == k.name():
			return nil, fmt.Errorf("%s has %s already, of the chart %s: give it another name, as in KIND=My%s", watchesFile, other.Kind, other.Chart, k.Kind)
		case other.Chart == k.Chart:
			return nil, fmt.Errorf("%s has %s already, for %s: to bring that up to date, say KIND=%s", watchesFile, other.Chart, other.Kind, other.Kind)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, k.Chart)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is there already: move it away", k.Chart)
	}
	return nil, nil
}

// resource is a resource of the kind that sets nothing.
func (k kind) resource(name string) string {
	return fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata:\n  name: %s\nspec: {}\n", k.Group, k.Version, k.Kind, name)
}

// definitions is the text of the definitions of kinds that the chart brings.
func (s *survey) definitions() (string, error) {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.crds)) {
		text, err := encode(s.crds[name])
		if err != nil {
			return "", err
		}
		out.Write(text)
	}
	return out.String(), nil
}
