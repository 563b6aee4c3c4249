package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const (
	goodApp = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata: {name: web}\nspec:\n  image: nginx:1.29\n"
	charts  = "../../helm-charts/"
)

func TestWhatChecksEndWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, text := range map[string]string{
		"good.yaml":    goodApp,
		"apps/a.yaml":  goodApp + "---\n" + goodApp + "  siez: 2\n",
		"apps/b.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		"typo.yaml":    goodApp + "  siez: 2\n",
		"foreign.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		"d.yaml":       "apiVersion: v1\nkind: ConfigMap\ndata: {appservice.yaml: 'tolerations: [{operator: Exists}]'}\n",
		"part.yaml":    "apiVersion: example.com/v1\nkind: Part\nmetadata: {name: web}\nspec: {}\n",

		"parts/watches.yaml":          "- {group: example.com, version: v1, kind: Part, chart: part, defaultValues: {stop: true}}\n",
		"parts/part/Chart.yaml":       "{apiVersion: v2, name: part, version: 1.0.0}\n",
		"parts/part/values.yaml":      "{stop: false}\n",
		"parts/part/templates/a.yaml": "{{ if .Values.stop }}{{ fail \"no\" }}{{ end }}\n",

		"watches.yaml":             "- {group: example.com, version: v1, kind: Widget, chart: widget}\n",
		"widget/Chart.yaml":        "{apiVersion: v2, name: widget, version: 1.0.0}\n",
		"widget/values.yaml":       "{}\n",
		"widget/templates/it.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name | quote }}}\ndata: {a: {{ randAlpha 5 | quote }}}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	for name, test := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"a resource that is right":     {[]string{"validate", "-f", "good.yaml"}, exitOK, "", "1 resources, 0 problems"},
		"a typo":                       {[]string{"validate", "-f", "typo.yaml"}, exitFound, `typo.yaml:6:3: AppService web: unknown field "spec.siez": did you mean size?`, ""},
		"a folder, with other kinds":   {[]string{"validate", "-f", "apps"}, exitFound, "", "b.yaml:1: ConfigMap web is skipped"},
		"a kind that nobody serves":    {[]string{"validate", "-f", "foreign.yaml"}, exitOK, "", "0 resources, 0 problems"},
		"defaults of the namespace":    {[]string{"validate", "-f", "good.yaml", "--defaults", "d.yaml"}, exitFound, "ConfigMap appservice-defaults", ""},
		"defaults of the platform":     {[]string{"validate", "-f", "part.yaml", "--chart-dir", "parts"}, exitFound, "defaultValues of watches.yaml", ""},
		"a cluster that is not there":  {[]string{"validate", "-f", "good.yaml", "--live", "--kubeconfig", "/none"}, exitBroke, "", "cannot find a cluster"},
		"no file":                      {[]string{"validate", "-f", "none.yaml"}, exitBroke, "", "none.yaml"},
		"our chart, of an example":     {[]string{"lint", charts + "appservice"}, exitOK, "", "1 cases, 0 findings"},
		"our chart, of a resource":     {[]string{"lint", charts + "appjob", "-f", "../../config/samples/app_v1_appjob.yaml"}, exitOK, "", "1 cases, 0 findings"},
		"a chart that breaks a rule":   {[]string{"lint", filepath.Join(dir, "widget")}, exitFound, "templates/it.yaml:4:", ""},
		"what is not a chart":          {[]string{"lint", "none"}, exitBroke, "", "none"},
		"a format that there is not":   {[]string{"lint", charts + "appjob", "-o", "pdf"}, exitBroke, "", "pdf"},
		"all charts of this program":   {[]string{"lint", "-o", "json"}, exitOK, "[", "appjob: 1 cases, 0 findings"},
		"as JSON, for another program": {[]string{"lint", charts + "appjob", "-o", "json"}, exitOK, `"findings": []`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{}, test.args...)
			for i, arg := range args {
				isFile := i > 0 && slices.Contains([]string{"-f", "--defaults", "--chart-dir"}, args[i-1])
				if isFile && !strings.HasPrefix(arg, "..") {
					args[i] = filepath.Join(dir, arg)
				}
			}
			streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
			if code := Run(t.Context(), args, streams); code != test.code {
				t.Errorf("it ends with %d, want %d", code, test.code)
			}
			if !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("got\n%s%s, want %q and %q", stdout, stderr, test.stdout, test.stderr)
			}
		})
	}
}
