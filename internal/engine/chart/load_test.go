package chart

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	appservice "github.com/example/appservice-operator"
)

const (
	shipped = "helm-charts/appservice"
	onDisk  = "../../../" + shipped
)

func TestTheEmbeddedChartIsTheOneThatHelmLoadsFromDisk(t *testing.T) {
	want, err := loader.LoadDir(onDisk)
	require.NoError(t, err)
	got := load(t, appservice.Files, shipped)
	compare(t, got, want)
	for _, file := range got.Raw {
		if strings.HasPrefix(file.Name, "tests/") || strings.HasSuffix(file.Name, "README.md") {
			t.Errorf("%s is part of the chart: it would sit in every release record", file.Name)
		}
	}
}

func TestWhatIsIgnoredIsWhatHelmIgnores(t *testing.T) {
	ignore, err := fs.ReadFile(appservice.Files, shipped+"/.helmignore")
	require.NoError(t, err)
	cases := map[string]struct {
		ignore string
		files  map[string]string
		absent []string
	}{
		"the shipped list": {
			ignore: string(ignore),
			files: map[string]string{
				"README.md": "read me", "templates/README.md": "me too", "tests/case_test.yaml": "a test", "templates/tests/pod.yaml": "",
				".git/HEAD": "ref", "values.yaml.orig": "old", ".DS_Store": "x", "templates/.service.yaml.swp": "x", "notes.txt": "kept",
			},
			absent: []string{
				"README.md", "templates/README.md", "tests/case_test.yaml", "templates/tests/pod.yaml",
				".git/HEAD", "values.yaml.orig", ".DS_Store", "templates/.service.yaml.swp",
			},
		},
		"no list, where hidden templates are left out all the same": {
			files:  map[string]string{"templates/.hidden.yaml": "kind: Hidden", ".hidden": "kept"},
			absent: []string{"templates/.hidden.yaml"},
		},
		"comments, blank lines and a rooted path": {
			ignore: "# all but one\n\n/notes.txt\n",
			files:  map[string]string{"notes.txt": "x", "docs/notes.txt": "kept"},
			absent: []string{"notes.txt"},
		},
		"a folder by its path": {
			ignore: "docs/internal\n",
			files:  map[string]string{"docs/internal/a.txt": "x", "docs/b.txt": "kept"},
			absent: []string{"docs/internal/a.txt"},
		},
		"a pattern, and a file that a trailing slash spares": {
			ignore: "*.bak\nsecret/\n",
			files:  map[string]string{"a.bak": "x", "docs/b.bak": "x", "secret": "kept, a file"},
			absent: []string{"a.bak", "docs/b.bak"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := minimal()
			if tc.ignore != "" {
				files[".helmignore"] = tc.ignore
			}
			maps.Copy(files, tc.files)
			dir := onto(t, files)
			want, err := loader.LoadDir(dir)
			require.NoError(t, err)
			got := load(t, os.DirFS(dir), ".")
			compare(t, got, want)
			have := byName(got.Raw)
			for _, name := range tc.absent {
				if _, found := have[name]; found {
					t.Errorf("%s is part of the chart", name)
				}
			}
		})
	}
}

func TestChartsOnDiskLoadAsHelmLoadsThem(t *testing.T) {
	cases := map[string]func(t *testing.T, dir string){
		"as they are":     func(*testing.T, string) {},
		"with a subchart": func(t *testing.T, dir string) { write(t, dir, subchart("sub")) },
		"with a file that is a link": func(t *testing.T, dir string) {
			link(t, filepath.Join(onto(t, map[string]string{"linked.yaml": "kind: Linked"}), "linked.yaml"), filepath.Join(dir, "templates/linked.yaml"))
		},
		"with a folder that is a link": func(t *testing.T, dir string) {
			link(t, onto(t, map[string]string{"linked.yaml": "kind: Linked"}), filepath.Join(dir, "templates/more"))
		},
		"with a byte order mark": func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"templates/marked.yaml": "\ufeffkind: Marked", "values.yaml": "\ufeffa: 1"})
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			dir := onto(t, minimal())
			change(t, dir)
			want, err := loader.LoadDir(dir)
			require.NoError(t, err)
			compare(t, load(t, os.DirFS(filepath.Dir(dir)), filepath.Base(dir)), want)
		})
	}
}

func TestAChartThatCannotBeUsedIsRefusedWithItsPlace(t *testing.T) {
	cases := map[string]struct {
		change map[string]string
		drop   string
		want   []string
	}{
		"a template that does not parse":  {change: map[string]string{"templates/broken.yaml": "a: 1\nb: 2\nc: {{ if }}\n"}, want: []string{"templates/broken.yaml:3"}},
		"an action that is never closed":  {change: map[string]string{"templates/broken.yaml": "a: 1\n{{ if true }}\n"}, want: []string{"templates/broken.yaml:3"}},
		"a function that does not exist":  {change: map[string]string{"templates/broken.yaml": "a: 1\n\nb: {{ nosuch 1 }}\n"}, want: []string{"templates/broken.yaml:3", "nosuch"}},
		"a partial that does not parse":   {change: map[string]string{"templates/_broken.tpl": "{{ define \"x\" }}\n{{ end }}{{ end }}"}, want: []string{"templates/_broken.tpl:2"}},
		"a subchart that does not parse":  {change: map[string]string{"charts/sub/Chart.yaml": chartYAML("sub"), "charts/sub/templates/broken.yaml": "\n{{ end }}"}, want: []string{"charts/sub/templates/broken.yaml:2"}},
		"no Chart.yaml":                   {drop: "Chart.yaml", want: []string{"Chart.yaml", "missing"}},
		"Chart.yaml without a version":    {change: map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\n"}, want: []string{"version"}},
		"Chart.yaml without a name":       {change: map[string]string{"Chart.yaml": "apiVersion: v2\nversion: 1.0.0\n"}, want: []string{"name"}},
		"Chart.yaml that is not YAML":     {change: map[string]string{"Chart.yaml": "a: b: c"}, want: []string{"Chart.yaml"}},
		"values.yaml that is not YAML":    {change: map[string]string{"values.yaml": "a: [1"}, want: []string{"values.yaml"}},
		"a list that Helm cannot read":    {change: map[string]string{".helmignore": "docs/**"}, want: []string{"**"}},
		"a dependency that is not there":  {change: map[string]string{"Chart.yaml": chartYAML("web") + "dependencies: [{name: absent, version: 1.0.0, repository: ''}]\n"}, want: []string{"absent"}},
		"a subchart without a Chart.yaml": {change: map[string]string{"charts/sub/values.yaml": "a: 1"}, want: []string{"sub", "Chart.yaml"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := minimal()
			maps.Copy(files, tc.change)
			delete(files, tc.drop)
			_, err := Load(memory("charts/web", files), "charts/web")
			require.Error(t, err)
			for _, part := range append(tc.want, "chart charts/web") {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}

func TestAFolderThatIsNotThereIsRefused(t *testing.T) {
	for _, dir := range []string{"helm-charts/absent", "../outside", "/etc", ""} {
		if _, err := Load(appservice.Files, dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: got error %v, want one that names it", dir, err)
		}
	}
}

func TestAChartMayRefuseItsOwnDefaults(t *testing.T) {
	cases := map[string]string{
		"with required":            `{{ required "image is required" .Values.image }}`,
		"with fail":                `{{ fail "parse error at nothing" }}`,
		"with a schema":            `{{ .Values.size }}`,
		"with a value of no type":  `{{ .Values.a.b.c }}`,
		"with no partial to be in": `{{ include "web.absent" . }}`,
	}
	for name, template := range cases {
		t.Run(name, func(t *testing.T) {
			files := minimal()
			files["templates/strict.yaml"] = template
			files["values.schema.json"] = `{"type": "object", "required": ["image"]}`
			load(t, memory("web", files), "web")
		})
	}
}

func TestDigest(t *testing.T) {
	base := minimal()
	maps.Copy(base, subchart("sub"))
	first := digestOf(t, base)
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(first) {
		t.Fatalf("got %q, want 32 hexadecimal characters", first)
	}
	with := func(change func(files map[string]string)) string {
		files := maps.Clone(base)
		change(files)
		return digestOf(t, files)
	}
	cases := map[string]struct {
		change func(files map[string]string)
		same   bool
	}{
		"nothing changes":   {func(map[string]string) {}, true},
		"an ignored change": {func(f map[string]string) { f["templates/.hidden.yaml"] = "x" }, true},
		"a file more":       {func(f map[string]string) { f["docs/more.txt"] = "" }, false},
		"a file less":       {func(f map[string]string) { delete(f, "values.yaml") }, false},
		"a file of another name": {func(f map[string]string) {
			f["templates/renamed.yaml"] = f["templates/service.yaml"]
			delete(f, "templates/service.yaml")
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := with(tc.change); (got == first) != tc.same {
				t.Errorf("got %s, first was %s, want the same: %t", got, first, tc.same)
			}
		})
	}
	for name := range base {
		t.Run("a byte changes in "+name, func(t *testing.T) {
			if got := with(func(f map[string]string) { f[name] += "\n" }); got == first {
				t.Error("the digest stays the same")
			}
		})
	}
	moved := with(func(f map[string]string) { f["docs/a"], f["docs/b"] = "onet", "wo" })
	if moved == with(func(f map[string]string) { f["docs/a"], f["docs/b"] = "one", "two" }) {
		t.Error("text that moves from one file to the next: the digest stays the same")
	}
}

func TestDigestOfTheShippedChartChangesWithEachFile(t *testing.T) {
	c := load(t, appservice.Files, shipped)
	first := Digest(c)
	if again := Digest(load(t, os.DirFS(onDisk), ".")); again != first {
		t.Errorf("from disk it is %s, embedded it is %s", again, first)
	}
	for _, file := range c.Raw {
		file.Data = append(bytes.Clone(file.Data), '#')
		if Digest(c) == first {
			t.Errorf("it stays the same when %s changes", file.Name)
		}
		file.Data = file.Data[:len(file.Data)-1]
	}
	if Digest(c) != first {
		t.Error("it does not come back when the files do")
	}
}

func TestDigestIsStableWithSeveralSubcharts(t *testing.T) {
	files := minimal()
	for _, name := range []string{"a", "b", "c", "d"} {
		maps.Copy(files, subchart(name))
	}
	found := map[string]bool{}
	for range 20 {
		found[digestOf(t, files)] = true
	}
	if len(found) != 1 {
		t.Errorf("got %d digests of one chart: %v", len(found), slices.Sorted(maps.Keys(found)))
	}
}

func digestOf(t *testing.T, files map[string]string) string {
	t.Helper()
	return Digest(load(t, memory("web", files), "web"))
}

func load(t *testing.T, fsys fs.FS, dir string) *chart.Chart {
	t.Helper()
	c, err := Load(fsys, dir)
	require.NoError(t, err)
	return c
}

// compare compares charts with the order of subcharts left aside: it is random in Helm.
func compare(t *testing.T, got, want *chart.Chart) {
	t.Helper()
	parts := map[string][2]any{
		"metadata":    {got.Metadata, want.Metadata},
		"values":      {got.Values, want.Values},
		"schema":      {string(got.Schema), string(want.Schema)},
		"raw files":   {byName(got.Raw), byName(want.Raw)},
		"templates":   {byName(got.Templates), byName(want.Templates)},
		"other files": {byName(got.Files), byName(want.Files)},
	}
	for name, pair := range parts {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s differ:\n got %v\nwant %v", name, pair[0], pair[1])
		}
	}
	subcharts := map[string]*chart.Chart{}
	for _, dependency := range got.Dependencies() {
		subcharts[dependency.Name()] = dependency
	}
	if len(subcharts) != len(want.Dependencies()) {
		t.Errorf("got %d subcharts, want %d", len(subcharts), len(want.Dependencies()))
	}
	for _, dependency := range want.Dependencies() {
		if subcharts[dependency.Name()] == nil {
			t.Errorf("there is no subchart %s", dependency.Name())
			continue
		}
		compare(t, subcharts[dependency.Name()], dependency)
	}
}

func byName(files []*chart.File) map[string]string {
	out := map[string]string{}
	for _, file := range files {
		out[file.Name] = string(file.Data)
	}
	return out
}

func chartYAML(name string) string {
	return fmt.Sprintf("apiVersion: v2\nname: %s\nversion: 1.0.0\n", name)
}

// minimal is a chart of one template.
func minimal() map[string]string {
	return map[string]string{
		"Chart.yaml":             chartYAML("web"),
		"values.yaml":            "port: 80\n",
		"templates/service.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n",
	}
}

func subchart(name string) map[string]string {
	return map[string]string{
		"charts/" + name + "/Chart.yaml":          chartYAML(name),
		"charts/" + name + "/templates/pods.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\n",
	}
}

func memory(dir string, files map[string]string) fs.FS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[dir+"/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// onto writes files to a new folder.
func onto(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	require.NoError(t, os.Symlink(target, name))
}
