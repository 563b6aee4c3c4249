package kinds

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// empty is a folder with a watches.yaml that names one kind.
func empty(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	put(t, root, watchesFile, "# Comments stay.\n- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}\n")
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

func TestScaffold(t *testing.T) {
	root := empty(t)
	made, err := Scaffold(root, "LoadProbe")
	require.NoError(t, err)
	for _, name := range made {
		if text := read(t, root, name); strings.Contains(name+text, "__") {
			t.Errorf("%s has a word left that stands for another: %s", name, text)
		}
	}
	for _, name := range []string{"config/samples/app_v1_loadprobe.yaml", "helm-charts/loadprobe/fields.yaml", "test/testdata/kinds/loadprobe/minimal/cr.yaml"} {
		if !slices.Contains(made, name) {
			t.Errorf("it made %v, not %s", made, name)
		}
	}
	entry := "# Comments stay.\n- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}\n" +
		"- group: app.example.com\n  version: v1\n  kind: LoadProbe\n  chart: helm-charts/loadprobe\n"
	if got := read(t, root, watchesFile); got != entry {
		t.Errorf("watches.yaml is\n%s", got)
	}
}

func TestScaffoldRefuses(t *testing.T) {
	cases := map[string]struct{ name, file, want string }{
		"no name":                              {"", "", "cannot be a kind"},
		"a name in small letters":              {"probe", "", "begins with a capital letter"},
		"a name with a path in it":             {"A/../B", "", "cannot be a kind"},
		"a kind that is served":                {"AppService", "", "watches.yaml has AppService already"},
		"one that differs in capitals only":    {"Appservice", "", "watches.yaml has AppService already"},
		"a chart whose folder has such a file": {"Probe", "helm-charts/probe/Chart.yaml", "helm-charts/probe/Chart.yaml is there already"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			root := empty(t)
			if test.file != "" {
				put(t, root, test.file, "mine")
			}
			before := read(t, root, watchesFile)
			if _, err := Scaffold(root, test.name); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if after := read(t, root, watchesFile); after != before {
				t.Errorf("watches.yaml was changed: %s", after)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	cases := map[string]struct{ text, want, fails string }{
		"what stands between the marks goes": {"a\n" + begin + "\nold\n" + end + "\nb\n", "a\n" + begin + "\nnew\n" + end + "\nb\n", ""},
		"a file without marks stays":         {"a\n", "a\n", "must have the lines"},
		"so does one without the second":     {begin + "\nold\n", begin + "\nold\n", "must have the lines"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, "file", test.text)
			err := replace(filepath.Join(root, "file"), []string{"new"})
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("got %v, want %q", err, test.fails)
			}
			if got := read(t, root, "file"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{"AppJob": "App Job", "imagePullPolicy": "Image pull policy", "size": "Size"} {
		if got := words(name); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
