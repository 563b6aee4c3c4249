package lint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/render"
)

const root = "../../.."

func resource(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	data, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &object.Object))
	object.SetNamespace("default")
	object.SetUID(render.PlaceholderUID)
	return object
}

// overlaid returns the files of several folders; those of later folders win.
func overlaid(t *testing.T, folders ...string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	for _, folder := range folders {
		dir := os.DirFS(folder)
		err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(dir, name)
			files["web/"+name] = &fstest.MapFile{Data: text, Mode: 0o644}
			return err
		})
		require.NoError(t, err)
	}
	return files
}

func checked(t *testing.T, folders ...string) []Finding {
	t.Helper()
	granted, err := rbac.ReadGranted(os.DirFS(root))
	require.NoError(t, err)
	granted = slices.DeleteFunc(granted, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.Resources, "leases") // what a published chart may need is not for all charts
	})
	granted = append(granted, rbacv1.PolicyRule{APIGroups: []string{"scheduling.k8s.io"}, Resources: []string{"priorityclasses"}, Verbs: rbac.ToRender})
	web := resource(t, "testdata/cr.yaml")
	var published chart.Published // the keys of its entry in watches.yaml, for rules that need one
	if entry, err := os.ReadFile(filepath.Join(filepath.Dir(folders[len(folders)-1]), "entry.yaml")); err == nil {
		require.NoError(t, yaml.UnmarshalStrict(entry, &published))
	}
	found, err := Check(t.Context(), Subject{Published: published,
		Files: overlaid(t, folders...), Dir: "web", Kind: web.GroupVersionKind(), Cases: []Case{{"web", web}}, Granted: granted, Complete: true,
	})
	require.NoError(t, err)
	return found
}

func list(found []Finding) string {
	var out strings.Builder
	for _, each := range found {
		fmt.Fprintln(&out, each)
	}
	return out.String()
}

// Each rule has a folder breaks with files that make testdata/chart break only this rule, and a folder holds with files that break none.
func TestRules(t *testing.T) {
	if found := checked(t, "testdata/chart"); len(found) > 0 {
		t.Fatalf("the sound chart has mistakes:\n%s", list(found))
	}
	folders, err := os.ReadDir("testdata/rules")
	require.NoError(t, err)
	for _, rule := range Rules {
		if !slices.ContainsFunc(folders, func(f os.DirEntry) bool { return f.Name() == rule.ID }) {
			t.Errorf("no chart breaks the rule %s", rule.ID)
		}
	}
	broken := 0
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			found := checked(t, "testdata/chart", filepath.Join("testdata/rules", folder.Name(), "breaks"))
			if len(found) == 0 || slices.ContainsFunc(found, func(f Finding) bool { return f.ID != folder.Name() || f.Title == "" }) {
				t.Errorf("the chart that breaks it has these mistakes:\n%s", list(found))
			} else {
				broken++
			}
			if found := checked(t, "testdata/chart", filepath.Join("testdata/rules", folder.Name(), "holds")); len(found) > 0 {
				t.Errorf("the chart that does not break it has mistakes:\n%s", list(found))
			}
		})
	}
	if dir := os.Getenv("CLI_FIGURES"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "lint"), fmt.Appendf(nil, "lint_rules=%d\n", broken), 0o644))
	}
}

// One case does not show that no other one needs an exception.
func TestAnExceptionIsStaleOnlyIfNoCaseNeedsIt(t *testing.T) {
	web := resource(t, "testdata/cr.yaml")
	for complete, want := range map[bool]int{true: 1, false: 0} {
		found, err := Check(t.Context(), Subject{Files: overlaid(t, "testdata/chart", "testdata/rules/stale-exception/breaks"), Dir: "web",
			Kind: web.GroupVersionKind(), Cases: []Case{{"web", web}}, Complete: complete})
		require.NoError(t, err)
		require.Len(t, found, want, "all cases are given: %t", complete)
	}
}
