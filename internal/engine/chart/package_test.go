package chart

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
)

// packed returns the package of a chart, as helm package makes it.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	name, err := chartutil.Save(load(t, memory("web", files), "web"), t.TempDir())
	require.NoError(t, err)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

func TestAPackagedChartIsTheChart(t *testing.T) {
	files := minimal()
	for name, text := range subchart("sub") {
		files[name] = text
	}
	fsys := fstest.MapFS{"charts/web.tgz": &fstest.MapFile{Data: packed(t, files)}}
	compare(t, load(t, fsys, "charts/web"), load(t, memory("web", files), "web"))
}

func TestAFolderGoesBeforeAPackage(t *testing.T) {
	files := minimal()
	fsys := memory("web", files).(fstest.MapFS)
	files["values.yaml"] = "port: 81\n"
	fsys["web.tgz"] = &fstest.MapFile{Data: packed(t, files)}
	if port := load(t, fsys, "web").Values["port"]; port != float64(80) {
		t.Errorf("got port %v, want the folder's", port)
	}
}

// The kubelet puts the entries of a ConfigMap into a folder behind two links.
func TestAChartInAMountedConfigMap(t *testing.T) {
	mounted := filepath.Join(t.TempDir(), "charts")
	for _, version := range []string{"..first", "..second"} {
		files := minimal()
		files["values.yaml"] = "from: " + version + "\n"
		folder := filepath.Join(mounted, version)
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "web.tgz"), packed(t, files), 0o644))
	}
	link := func(target, name string) {
		t.Helper()
		require.NoError(t, os.Symlink(target, filepath.Join(mounted, name+".new")))
		require.NoError(t, os.Rename(filepath.Join(mounted, name+".new"), filepath.Join(mounted, name)))
	}
	link("..data/web.tgz", "web.tgz")
	for _, version := range []string{"..first", "..second"} {
		link(version, "..data")
		if from := load(t, os.DirFS(filepath.Dir(mounted)), "charts/web").Values["from"]; from != version {
			t.Errorf("got the chart %v, want %s", from, version)
		}
	}
}

func TestWhatIsNoPackageIsRefused(t *testing.T) {
	_, err := Load(fstest.MapFS{"web.tgz": &fstest.MapFile{Data: []byte("name: web\n")}}, "web")
	assert.ErrorContains(t, err, "web.tgz is not a chart as helm package makes it")
	_, err = Load(fstest.MapFS{}, "web")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cannot read chart web: there is neither a folder of that name nor a web.tgz") {
		t.Errorf("got %v", err)
	}
}
