package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	"github.com/example/appservice-operator/internal/compare"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watches"
)

const (
	watchesFile = "watches.yaml"
	chartFile   = chartutil.ChartfileName
)

// served holds the kinds that the operator would serve with some charts.
type served struct {
	// Kinds in the order of watches.yaml.
	Kinds   []schema.GroupVersionKind
	Watches map[schema.GroupVersionKind]watches.Watch
	// Renderers are the manager's, without the platform's policy.
	Renderers map[schema.GroupVersionKind]*render.Renderer
}

// chartsIn loads the charts of a folder that contains helm-charts, like --chart-dir of the manager; "" loads the built-in charts. If the folder
// has no watches.yaml, the built-in one is used. If the folder is itself a chart, it replaces the built-in chart of the same name.
func chartsIn(dir string) (*served, error) {
	var files fs.FS = appservice.Files
	if dir != "" {
		files = os.DirFS(dir)
	}
	if _, err := fs.Stat(files, chartFile); err == nil {
		return oneChart(dir, files)
	}
	text, err := fs.ReadFile(files, watchesFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(appservice.Files, watchesFile)
	}
	if err != nil {
		return nil, err
	}
	list, err := watches.Load(text, files)
	if err != nil {
		return nil, err
	}
	out := &served{Watches: map[schema.GroupVersionKind]watches.Watch{}, Renderers: map[schema.GroupVersionKind]*render.Renderer{}}
	for _, entry := range list {
		kind := entry.GroupVersionKind
		out.Kinds = append(out.Kinds, kind)
		out.Watches[kind] = entry
		out.Renderers[kind] = render.For(entry, entry.Chart)
	}
	return out, nil
}

// oneChart returns the built-in charts with the chart of a folder in place of the one of the same name.
func oneChart(dir string, files fs.FS) (*served, error) {
	all, err := chartsIn("")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, kind := range all.Kinds {
		entry := all.Watches[kind]
		loaded, err := watches.LoadChart(files, ".", kind)
		if err != nil {
			return nil, err
		}
		if loaded.Name() == entry.Chart.Name() {
			entry.Chart = loaded
			all.Watches[kind], all.Renderers[kind] = entry, render.For(entry, loaded)
			return all, nil
		}
		names = append(names, entry.Chart.Name())
	}
	return nil, fmt.Errorf("no kind is served with the chart in %s: the charts are called %s", dir, strings.Join(names, ", "))
}

// charts returns the charts in the form that package compare takes.
func (s *served) charts() (*compare.Charts, error) {
	var list []watches.Watch
	for _, kind := range s.Kinds {
		list = append(list, s.Watches[kind])
	}
	return compare.ChartsOf(list)
}
