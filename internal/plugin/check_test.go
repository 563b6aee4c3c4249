package plugin

import (
	"strings"
	"testing"

	"github.com/example/appservice-operator/test/files"
)

const goodApp = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata: {name: web}\nspec:\n  image: nginx:1.29\n"

func TestWhatChecksEndWith(t *testing.T) {
	t.Parallel()
	written := map[string]string{
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
	}
	for name, test := range map[string]struct {
		line           string
		code           int
		stdout, stderr string
	}{
		"a resource that is right":     {"validate -f DIR/good.yaml", exitOK, "", "1 resource, 0 problems"},
		"a typo":                       {"validate -f DIR/typo.yaml", exitFound, `typo.yaml:6:3: AppService web: unknown field "spec.siez": did you mean size?`, ""},
		"a folder, with other kinds":   {"validate -f DIR/apps", exitFound, "", "b.yaml:1: ConfigMap web is skipped"},
		"a kind that nobody serves":    {"validate -f DIR/foreign.yaml", exitOK, "", "0 resources, 0 problems"},
		"defaults of the namespace":    {"validate -f DIR/good.yaml --defaults DIR/d.yaml", exitFound, "ConfigMap appservice-defaults", ""},
		"defaults of the platform":     {"validate -f DIR/part.yaml --chart DIR/parts", exitFound, "defaultValues of watches.yaml", ""},
		"the flag's former name":       {"validate -f DIR/part.yaml --chart-dir DIR/parts", exitFound, "defaultValues of watches.yaml", ""},
		"a cluster that is not there":  {"validate -f DIR/good.yaml --live", exitBroke, "", "cannot find a cluster"},
		"no file":                      {"validate -f DIR/none.yaml", exitBroke, "", "none.yaml"},
		"our chart, of an example":     {"lint ../../helm-charts/appservice", exitOK, "", "1 case, 0 findings"},
		"our chart, of a resource":     {"lint ../../helm-charts/appjob -f ../../config/samples/app_v1_appjob.yaml", exitOK, "", "1 case, 0 findings"},
		"a chart that breaks a rule":   {"lint DIR/widget", exitFound, "templates/it.yaml:4:", ""},
		"what is not a chart":          {"lint none", exitBroke, "", "none"},
		"a format that there is not":   {"lint ../../helm-charts/appjob -o pdf", exitBroke, "", "pdf"},
		"all charts of this program":   {"lint -o json", exitOK, "[", "appjob: 1 case, 0 findings"},
		"as JSON, for another program": {"lint ../../helm-charts/appjob -o json", exitOK, `"findings": []`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, written, test.line)
			if others := len(files.Published(t)) > 0; code != test.code && (!others || test.line != "lint -o json") {
				t.Errorf("it ends with %d, want %d", code, test.code)
			}
			if !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got\n%s%s, want %q and %q", stdout, stderr, test.stdout, test.stderr)
			}
		})
	}
}
