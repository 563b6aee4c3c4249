package charts

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/render"
)

// set is a set of values of a chart.
type set struct {
	name   string
	values map[string]any
	// all says that the cluster serves every version of an API that the chart names.
	all bool
}

const defaultsOnly = "defaults"

// ofCI matches the values that maintainers test their charts with.
var ofCI = regexp.MustCompile(`^ci/(?:[^/]*-)?values[^/]*\.ya?ml$`)

// setsOf returns the sets of a chart, each over some values: its defaults, its files ci/*-values.yaml, and each boolean
// of its values.yaml turned over alone, or some of them by a seed.
func setsOf(c *chart.Chart, raw []*chart.File, beneath map[string]any, booleans int, seed uint64) ([]set, error) {
	list := []set{{name: defaultsOnly, values: beneath}}
	if len(servedFor(c)) > 0 {
		list = append(list, set{name: "every API", values: beneath, all: true})
	}
	for _, file := range raw {
		if !ofCI.MatchString(file.Name) {
			continue
		}
		values, err := valuesOf(file.Data)
		if err != nil {
			return nil, err
		}
		list = append(list, set{name: file.Name, values: over(beneath, values)})
	}
	flips := turned(c.Values, nil)
	if booleans >= 0 && booleans < len(flips) {
		sum := fnv.New64()
		_, _ = sum.Write([]byte(c.Name()))
		random := rand.New(rand.NewPCG(seed, sum.Sum64()))
		random.Shuffle(len(flips), func(i, j int) { flips[i], flips[j] = flips[j], flips[i] })
		flips = flips[:booleans]
	}
	for _, flip := range flips {
		flip.values = over(beneath, flip.values)
		list = append(list, flip)
	}
	return list, nil
}

// servedFor returns the kinds that a chart names in its templates and that are not built in.
func servedFor(c *chart.Chart) chartutil.VersionSet {
	return slices.DeleteFunc(slices.Clone(render.Serving(c).APIVersions), chartutil.DefaultCapabilities.APIVersions.Has)
}

// turned returns a set for each boolean of some values, in maps at any depth. Those of lists stay as they are.
func turned(values map[string]any, below []string) (list []set) {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := append(slices.Clone(below), name)
		switch value := values[name].(type) {
		case bool:
			flipped := map[string]any{name: !value}
			for _, parent := range slices.Backward(below) {
				flipped = map[string]any{parent: flipped}
			}
			text := "=true"
			if value {
				text = "=false"
			}
			list = append(list, set{name: strings.Join(at, ".") + text, values: flipped})
		case map[string]any:
			list = append(list, turned(value, at)...)
		}
	}
	return list
}

// valuesOf reads values. Whole numbers stay whole, as in the spec of a resource.
func valuesOf(text []byte) (map[string]any, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := utiljson.Unmarshal(data, &values); err != nil {
		return nil, err
	}
	return values, nil
}

// over lays values over others.
func over(below, above map[string]any) map[string]any {
	return chartutil.MergeTables(copied(above).(map[string]any), copied(below).(map[string]any))
}

// chartsIn lists the charts of a folder, by the paths that they are loaded from: packages without their suffix.
func chartsIn(folder string) (list []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		name, packed := strings.CutSuffix(entry.Name(), ".tgz")
		if _, failed := os.Stat(filepath.Join(folder, entry.Name(), "Chart.yaml")); packed || failed == nil {
			list = append(list, name)
		}
	}
	return list, err
}

// loadedByHelm returns a chart as Helm loads it, and its files, those included that a package leaves out.
func loadedByHelm(folder, name string) (*chart.Chart, []*chart.File, error) {
	dir := filepath.Join(folder, name)
	if _, err := os.Stat(dir); err != nil {
		c, err := loader.Load(dir + ".tgz")
		if err != nil {
			return nil, nil, err
		}
		return c, c.Raw, nil
	}
	c, err := loader.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	var raw []*chart.File
	found, _ := filepath.Glob(filepath.Join(dir, "ci", "*"))
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		raw = append(raw, &chart.File{Name: path.Join("ci", filepath.Base(file)), Data: text})
	}
	return c, raw, nil
}
