package plugin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/example/appservice-operator/internal/plugin/preview"
)

// aMigratedApp has a release task, whose arguments are not to be shown.
const aMigratedApp = anApp + "  release: {command: [bin/migrate], args: [--password=secret]}\n"

func TestDiff(t *testing.T) {
	t.Parallel()
	change := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	other := change(anApp, "name: web,", "name: api,")
	chart := map[string]string{
		"app.yaml":                  anApp,
		"a/Chart.yaml":              "apiVersion: v2\nname: appservice\nversion: 9.9.9\n",
		"a/values.yaml":             "{}\n",
		"a/templates/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, labels: {release: one}}\n",
		"b/Chart.yaml":              "apiVersion: v2\nname: appservice\nversion: 9.9.9\n",
		"b/values.yaml":             "{}\n",
		"b/templates/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, labels: {release: two}}\n",
	}
	for name, test := range map[string]struct {
		files  map[string]string
		line   string
		code   int
		stdout string
		stderr string
	}{
		"nothing": {map[string]string{"app.yaml": anApp}, "diff -f DIR/app.yaml --against DIR/app.yaml", 0, "AppService shop/web: nothing changes\n", ""},
		"another image": {map[string]string{"app.yaml": anApp, "new.yaml": change(anApp, "1.29", "1.30")}, "diff -f DIR/new.yaml --against DIR/app.yaml", 1,
			"AppService shop/web: 1 object changes; pods WILL restart\n  ! pods of Deployment web WILL restart\n  ~ Deployment web\n" +
				"      spec.template.spec.containers[app].image nginx:1.29 → nginx:1.30; restarts pods\n", ""},
		"a release task that runs": {map[string]string{"app.yaml": aMigratedApp, "new.yaml": change(aMigratedApp, "1.29", "1.30")}, "diff -f DIR/new.yaml --against DIR/app.yaml", 1,
			"AppService shop/web: 3 objects change; pods WILL restart\n  ! the release task WILL run: bin/migrate\n  ! pods of Deployment web WILL restart\n", ""},
		"a release task that does not": {map[string]string{"app.yaml": aMigratedApp, "new.yaml": change(aMigratedApp, "80", "81")}, "diff -f DIR/new.yaml --against DIR/app.yaml", 1,
			"  ! Service web: port 80 is removed\n    the release task does not run\n  ~ Service web\n", ""},
		"one port less under another name": {map[string]string{"app.yaml": anApp, "new.yaml": change(anApp, "web", "api", "80", "81")}, "diff -f DIR/new.yaml --against DIR/app.yaml", 1, "  ! Service api: port 80 is removed\n", ""},
		"folders": {
			map[string]string{"old/web.yaml": anApp, "old/note.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "new/all.yaml": change(anApp, "1.29", "1.30") + "---\n" + other},
			"diff -f DIR/new --against DIR/old", 1, "2 resources: 2 change, 1 restart pods\n", "",
		},
		"one that goes":                     {map[string]string{"old.yaml": anApp + "---\n" + other, "new.yaml": anApp}, "diff -f DIR/new.yaml --against DIR/old.yaml", 1, "AppService shop/api: 2 objects change; pods WILL restart\n  ! Deployment api is deleted, with its pods\n  ! Service api: port 80 is removed\n", ""},
		"two charts":                        {chart, "diff -f DIR/app.yaml --from-chart DIR/a --to-chart DIR/b", 1, "AppService shop/web: 1 object changes; no pod restarts\n  ~ ConfigMap web\n      metadata.labels.release one → two\n", ""},
		"the same chart":                    {chart, "diff -f DIR/app.yaml --from-chart DIR/a --to-chart DIR/a", 0, "nothing changes", ""},
		"this program's charts and another": {chart, "diff -f DIR/app.yaml --chart DIR/b", 1, "  ! Deployment web is deleted, with its pods\n", ""},
		"a chart that cannot render it": {
			map[string]string{"app.yaml": anApp, "b/Chart.yaml": chart["b/Chart.yaml"], "b/values.yaml": "{}", "b/templates/a.yaml": "{{ fail \"no\" }}"},
			"diff -f DIR/app.yaml --chart DIR/b", 1, "AppService shop/web: will be refused\n  ! refused: no (chart appservice 9.9.9, templates/a.yaml line 1); the running release stays as it is\n", "",
		},
		"no cluster to compare with":   {map[string]string{"app.yaml": anApp}, "diff -f DIR/app.yaml", 2, "", "; without a cluster: set --against FILE or --from-chart DIR\n"},
		"two things to compare with":   {map[string]string{"app.yaml": anApp}, "diff -f DIR/app.yaml --against DIR/app.yaml --from-chart DIR", 2, "", "if any flags in the group [from-chart against] are set none of the others can be"},
		"a cluster that is not there":  {nil, "diff web", 2, "", "cannot find a cluster"},
		"a chart that nobody is for":   {map[string]string{"app.yaml": anApp, "b/Chart.yaml": "apiVersion: v2\nname: other\nversion: 9.9.9\n"}, "diff -f DIR/app.yaml --chart DIR/b", 2, "", "no kind is served with the chart in"},
		"a folder that has no charts":  {map[string]string{"app.yaml": anApp}, "diff -f DIR/app.yaml --chart DIR", 2, "", "helm-charts/appservice"},
		"a form that there is none of": {map[string]string{"app.yaml": anApp}, "diff -f DIR/app.yaml -o yaml", 2, "", "--output=yaml: it can be text, json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, test.files, test.line)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) || test.stderr == "" && stderr != "" {
				t.Errorf("it ends with %d, want %d\ngot\n%s%s\nwant in it\n%s%s", code, test.code, stdout, stderr, test.stdout, test.stderr)
			}
		})
	}
}

func TestDiffForPrograms(t *testing.T) {
	t.Parallel()
	files := map[string]string{"app.yaml": anApp, "new.yaml": strings.Replace(anApp, "1.29", "1.30", 1)}
	code, stdout, stderr := run(t, files, "diff -f DIR/new.yaml --against DIR/app.yaml -o json")
	var got []preview.Report
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 1 || stderr != "" {
		t.Fatalf("got %d, %v, %s", code, err, stderr)
	}
	if len(got) != 1 || !got[0].Restarts || got[0].Name != "AppService shop/web" || len(got[0].Objects) != 1 || got[0].Objects[0].Fields[0].New != "nginx:1.30" {
		t.Errorf("got %+v", got)
	}
}

func TestAProgramPrintsTheDifferences(t *testing.T) {
	files := map[string]string{"app.yaml": anApp, "new.yaml": strings.Replace(anApp, "1.29", "1.30", 1)}
	for name, test := range map[string]struct {
		program string
		code    int
		stdout  string
	}{
		"diff":                   {"diff -u", 1, "-        image: nginx:1.29\n+        image: nginx:1.30\n"},
		"one that finds nothing": {"true", 1, "  ~ Deployment web\n"},
		"one that is not there":  {"no-such-program", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(externalDiff, test.program)
			code, stdout, stderr := run(t, files, "diff -f DIR/new.yaml --against DIR/app.yaml")
			if code != test.code || !strings.Contains(stdout, test.stdout) || strings.Contains(stdout, "→") {
				t.Errorf("it ends with %d, want %d: %s\n%s", code, test.code, stdout, stderr)
			}
		})
	}
}
