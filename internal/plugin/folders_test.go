package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file or a chart that someone else wrote does not say where a file is written.
func TestTheFilesOfAnExternalDiffStayInTheirFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv(externalDiff, "ls")
	escape := strings.Repeat("../", 32) + strings.TrimPrefix(home, "/") + "/"
	const chart = "apiVersion: v2\nname: appservice\nversion: 9.9.9\n"
	for name, metadata := range map[string]string{
		"the namespace": "{name: bashrc, namespace: x/" + escape + "}",
		"the name":      "{name: x/" + escape + ".bashrc, namespace: shop}",
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{
				"app.yaml": strings.Replace(anApp, "{name: web, namespace: shop}", metadata, 1), "old.yaml": strings.Replace(anApp, "1.29", "1.28", 1),
				"chart/Chart.yaml": chart, "chart/values.yaml": "{}", "chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name | quote }}, labels: {image: {{ .Values.image | quote }}}}\n",
			}
			code, _, stderr := run(t, files, "diff -f DIR/app.yaml --against DIR/old.yaml --chart DIR/chart")
			written, err := os.ReadDir(home)
			require.NoError(t, err)
			assert.Empty(t, written)
			if code != exitBroke || !strings.Contains(stderr, "correct metadata.name and metadata.namespace") {
				t.Errorf("it ends with %d: %s", code, stderr)
			}
		})
	}
}

// Templates print files of their chart, so links in it must not lead elsewhere.
func TestLinksOfAChartStayInItsFolder(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "key"), []byte("hunter2"), 0o600))
	for name, test := range map[string]struct {
		link, target string
		want         string // in stderr; empty if it works
	}{
		"a file elsewhere":      {"files/key", filepath.Join(elsewhere, "key"), "path escapes from parent"},
		"a folder elsewhere":    {"files", elsewhere, "path escapes from parent"},
		"a file above":          {"files/key", "../../" + filepath.Base(elsewhere), "path escapes from parent"},
		"a file of the chart":   {"files/key", "../values.yaml", ""},
		"a folder of the chart": {"files", "others", ""},
		"itself":                {"files", ".", "files is a link to a folder that it is in, which has no end: remove the link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, content := range map[string]string{
				"Chart.yaml": "apiVersion: v2\nname: appservice\nversion: 9.9.9\n", "values.yaml": "{a: b}", "others/key": "{a: b}",
				"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {key: {{ .Files.Get \"files/key\" | quote }}}\n",
			} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
			}
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, test.link)), 0o755))
			require.NoError(t, os.Symlink(test.target, filepath.Join(dir, test.link)))
			code, stdout, stderr := run(t, map[string]string{"app.yaml": anApp}, "render -f DIR/app.yaml --chart "+dir)
			assert.NotContains(t, stdout, "hunter2")
			if test.want == "" {
				assert.Contains(t, stdout, "{a: b}", stderr)
			} else if code != exitBroke || !strings.Contains(stderr, test.want) {
				t.Errorf("it ends with %d: %s", code, stderr)
			}
		})
	}
}
