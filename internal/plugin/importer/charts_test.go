package importer

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

// TestCharts imports releases of charts that others made.
func TestCharts(t *testing.T) {
	t.Parallel()
	created, err := chartutil.Create("web", t.TempDir())
	require.NoError(t, err)
	podinfo := filepath.Join(podinfoFolder(t), "charts/podinfo")
	for name, test := range map[string]struct {
		chart  string
		values map[string]any
	}{
		"helm-create": {created, nil},
		"helm-create-with-all": {created, map[string]any{
			"replicaCount": 2,
			"ingress":      map[string]any{"enabled": true, "className": "nginx"},
			"autoscaling":  map[string]any{"enabled": true, "targetMemoryUtilizationPercentage": 70},
			"resources":    map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "64Mi"}},
			"nodeSelector": map[string]any{"kubernetes.io/os": "linux"},
			"volumes":      []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}},
			"volumeMounts": []any{map[string]any{"name": "tmp", "mountPath": "/tmp"}},
		}},
		"podinfo": {podinfo, nil},
		"podinfo-with-all": {podinfo, map[string]any{
			"replicaCount":   2,
			"ingress":        map[string]any{"enabled": true},
			"hpa":            map[string]any{"enabled": true, "cpu": 80},
			"redis":          map[string]any{"enabled": true},
			"serviceAccount": map[string]any{"enabled": true},
			"serviceMonitor": map[string]any{"enabled": true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := imported(t, rendered(t, "web", test.chart, test.values))
			for n := range made.Left { // names of tests are random
				made.Left[n].Object = regexp.MustCompile(`-[a-z0-9]{5}$`).ReplaceAllString(made.Left[n].Object, "-XXXXX")
			}
			compareGolden(t, "testdata/charts/"+name+".golden", printed(t, made))
		})
	}
}

// rendered is the manifest of a release of a chart, hooks included.
func rendered(t testing.TB, name, chart string, values map[string]any) []byte {
	t.Helper()
	loaded, err := loader.Load(chart)
	require.NoError(t, err)
	install := action.NewInstall(&action.Configuration{})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace = name, "shop"
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	release, err := install.Run(loaded, values)
	require.NoError(t, err)
	text := bytes.NewBufferString(release.Manifest)
	for _, hook := range release.Hooks {
		text.WriteString("---\n" + hook.Manifest + "\n")
	}
	return text.Bytes()
}

// podinfoFolder is where the Go module of podinfo is, with its chart, in the version that tools/pins/podinfo pins.
func podinfoFolder(t testing.TB) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/stefanprodan/podinfo")
	command.Dir = "../../../tools/pins/podinfo"
	out, err := command.Output()
	if err != nil {
		t.Fatalf("cannot download podinfo: %v", err)
	}
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	return module.Dir
}
