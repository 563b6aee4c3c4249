package plugin

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chartutil"

	appservice "github.com/example/appservice-operator"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

const (
	watchesFile = "watches.yaml"
	chartFile   = chartutil.ChartfileName
)

// chartsIn loads the charts of a folder that contains helm-charts, like --chart-dir of the manager; "" loads the
// built-in charts. If the folder has no watches.yaml, the built-in one is used. If the folder is itself a chart, it
// replaces the built-in chart of the same name.
func chartsIn(dir string) (charts *preview.Charts, err error) {
	if dir == "" {
		return builtInCharts()
	}
	files, err := folder(dir)
	if err != nil {
		return nil, err
	}
	if _, statErr := fs.Stat(files, chartFile); statErr == nil {
		charts, err = oneChart(dir, files)
	} else {
		charts, err = preview.LoadCharts(files)
	}
	if err != nil {
		return nil, explainError("charts of "+dir, err)
	}
	return charts, nil
}

var loadedOnce = sync.OnceValues(func() (*preview.Charts, error) { return preview.LoadCharts(appservice.Files) })

// builtInCharts returns the built-in charts, which are loaded once.
func builtInCharts() (*preview.Charts, error) {
	charts, err := loadedOnce()
	if err != nil {
		return nil, explainError("charts of this program", err)
	}
	return preview.ChartsOf(slices.Clone(charts.Watches))
}

// folder returns the files of a folder. Charts may come from others, and templates print files: no link leads
// out of it.
func folder(dir string) (fs.FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// oneChart returns the built-in charts with the chart of a folder in place of the one of the same name.
func oneChart(dir string, files fs.FS) (*preview.Charts, error) {
	all, err := builtInCharts()
	if err != nil {
		return nil, err
	}
	var names []string
	for i, entry := range all.Watches {
		loaded, err := entry.Load(files, ".")
		if err != nil {
			return nil, err
		}
		if loaded.Name() == entry.Chart.Name() {
			all.Watches[i].Chart = loaded
			return preview.ChartsOf(all.Watches)
		}
		names = append(names, entry.Chart.Name())
	}
	return nil, fmt.Errorf("no kind is served with the chart in %s: the charts are called %s", dir,
		strings.Join(names, ", "))
}
