package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/plugin/preview"
	"github.com/example/appservice-operator/tools/toolchain"
)

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

const (
	deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      volumes: [{name: {{ .Release.Name }}-files, configMap: {name: {{ .Release.Name }}-files}}]
      containers: [{name: app, image: nginx}]
`
	files = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-files}
data: {a: {{ .Values.text | quote }}}
`
)

// chartsWith loads charts with one template for widgets, and more files of that chart.
func chartsWith(t *testing.T, template string, more map[string]string) *preview.Charts {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"watches.yaml":                   "- {group: example.com, version: v1, kind: Widget, chart: charts/widget}\n",
		"charts/widget/Chart.yaml":       "apiVersion: v2\nname: widget\nversion: 1.0.0\n",
		"charts/widget/values.yaml":      "text: plain\n",
		"charts/widget/templates/a.yaml": template,
	}
	for name, text := range more {
		files["charts/widget/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	c, err := load(t.Context(), "", dir)
	require.NoError(t, err)
	return c
}

// widgets returns that many widgets, the last with another text.
func widgets(count int) *findings {
	found := &findings{subjects: map[schema.GroupVersionKind][]preview.Subject{}, capabilities: chartutil.DefaultCapabilities}
	for i := range count {
		name := fmt.Sprintf("w%d", i+1)
		resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		if i == count-1 {
			resource.Object["spec"] = map[string]any{"text": "odd"}
		}
		resource.SetGroupVersionKind(widget)
		resource.SetNamespace("shop")
		resource.SetName(name)
		resource.SetUID("1")
		found.subjects[widget] = append(found.subjects[widget], preview.Subject{Name: name, Resource: resource})
	}
	return found
}

func TestReports(t *testing.T) {
	const both = deployment + files
	odd := `{{ if eq .Values.text "odd" }}{{ fail "no odd ones" }}{{ end }}` + "\n"
	cases := map[string]struct {
		old, rendered string
		count         int
		want          []string
		fails         bool
	}{
		"nothing differs": {both, both, 2, []string{"2 Widgets: 0 change, 0 restart pods"}, false},
		"all differ in the same field of their pods": {both, strings.Replace(both, "nginx", "caddy", 1), 5, []string{
			"5 Widgets: 5 change, 5 restart pods",
			"    5  Deployment: spec.template.spec.containers[app].image nginx → caddy; restarts pods", "       w1, w2, w3 and 2 more",
		}, false},
		"all differ in a field that restarts nothing": {both, strings.Replace(both, "replicas: 1", "replicas: 2", 1), 3, []string{
			"3 Widgets: 3 change, 0 restart pods", "    3  Deployment: spec.replicas 1 → 2", "       w1, w2, w3",
		}, false},
		"names that follow the resource's are one difference": {deployment, strings.ReplaceAll(deployment, "-files", "-parts"), 2, []string{
			"2 Widgets: 2 change, 2 restart pods",
			"    2  Deployment: spec.template.spec.volumes[NAME-files] (object) → (none); restarts pods", "       w1, w2",
			"    2  Deployment: spec.template.spec.volumes[NAME-parts] (none) → (object); restarts pods", "       w1, w2",
		}, false},
		"objects come and go": {files, deployment, 1, []string{
			"1 Widget: 1 change, 0 restart pods", "    1  Deployment is new", "       w1", "    1  ConfigMap NAME-files goes", "       w1",
		}, false},
		"a workload goes": {both, files, 1, []string{"1 Widget: 1 change, 1 restart pods", "    1  Deployment goes", "       w1"}, false},
		"one can no longer be rendered": {both, odd + both, 3, []string{
			"3 Widgets: 0 change, 0 restart pods, 1 can no longer be rendered",
			"    1  can no longer be rendered: ", "no odd ones", "       w3",
		}, true},
		"one could not be rendered before, either": {odd + both, odd + both, 2, []string{
			"2 Widgets: 0 change, 0 restart pods, 1 cannot be rendered, as before", "    1  cannot be rendered, as before: ", "no odd ones", "       w2",
		}, false},
		"one can be rendered again": {odd + both, both, 2, []string{
			"2 Widgets: 0 change, 0 restart pods, 1 can be rendered again", "    1  can be rendered, which failed before: ", "no odd ones", "       w2",
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := compareAll(t.Context(), &out, chartsWith(t, tc.old, nil), chartsWith(t, tc.rendered, nil), widgets(tc.count))
			if tc.fails != errors.Is(err, errFail) || !tc.fails && err != nil {
				t.Errorf("got error %v", err)
			}
			rest := out.String()
			for _, want := range tc.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing, or not in its place:\n%s", want, out.String())
				}
				rest = after
			}
			if lines := strings.Count(out.String(), "\n"); !strings.HasPrefix(out.String(), tc.want[0]+"\n") || rest != "\n" || lines > len(tc.want) {
				t.Errorf("got more than wanted:\n%s", out.String())
			}
		})
	}
}

func TestFieldsThatAreNotDeclaredAnyMoreAreNamed(t *testing.T) {
	declare := func(name string) *preview.Charts {
		text := "fields:\n  " + name + ": {type: string, description: What it says.}\n"
		return chartsWith(t, strings.ReplaceAll("# {{ .Values.text }}\n", "text", name), map[string]string{"fields.yaml": text, "values.yaml": ""})
	}
	var out strings.Builder
	require.NoError(t, compareAll(t.Context(), &out, declare("text"), declare("words"), widgets(2)))
	const want = "2 Widgets: 0 change, 0 restart pods\n" +
		"    1  the field spec.text no longer has an effect: the new chart does not declare it\n       w2\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestTheGoldenCasesAreCompared(t *testing.T) {
	root, err := toolchain.Root()
	require.NoError(t, err)
	found, err := cases(root)
	require.NoError(t, err)
	count, want := 0, 0
	for _, list := range found.subjects {
		count += len(list)
	}
	err = filepath.WalkDir(filepath.Join(root, "test/testdata"), func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "golden.yaml" {
			want++
		}
		return err
	})
	if err != nil || count != want || want == 0 {
		t.Errorf("%d cases are found, there are %d (error %v)", count, want, err)
	}
	here, err := load(t.Context(), root, root)
	require.NoError(t, err)
	var out strings.Builder
	assert.NoError(t, compareAll(t.Context(), &out, here, here, found))
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if !strings.HasSuffix(line, ": 0 change, 0 restart pods") {
			t.Errorf("a chart differs from itself: %s", line)
		}
	}
}

func TestChartsAreReadFromACommit(t *testing.T) {
	root, err := toolchain.Root()
	require.NoError(t, err)
	c, err := load(t.Context(), root, "HEAD")
	require.NoError(t, err)
	if len(c.Watches) == 0 || c.Watches[0].Kind != "AppService" {
		t.Errorf("got %v", c.Watches)
	}
	if _, err := load(t.Context(), root, "no-such-commit"); err == nil || !strings.Contains(err.Error(), `"no-such-commit" is not a folder, and git cannot read it as a commit`) {
		t.Errorf("got %v", err)
	}
}
