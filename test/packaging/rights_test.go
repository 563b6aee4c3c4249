package packaging

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/chart/rbac"
)

// options are the names of the rights that installations may enable.
func options(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(root, rbac.OptionFolder, "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("there are no options (error %v)", err)
	}
	var names []string
	for _, folder := range folders {
		names = append(names, filepath.Base(folder))
	}
	return names
}

// installer is what make build-installer writes, by kind, namespace and name.
func installer(t *testing.T, variables ...string) map[string]*unstructured.Unstructured {
	t.Helper()
	file := filepath.Join(t.TempDir(), "install.yaml")
	build := exec.CommandContext(t.Context(), "make", append([]string{"build-installer", "INSTALLER=" + file}, variables...)...)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", build, err, output)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return byName(documents(t, text))
}

// rulesOf are the rules of the roles among objects, by kind, namespace and name.
func rulesOf(objects map[string]*unstructured.Unstructured) map[string]any {
	rules := map[string]any{}
	for name, object := range objects {
		if strings.Contains(object.GetKind(), "Role") {
			rules[name] = []any{object.Object["rules"], object.Object["subjects"], object.Object["roleRef"]}
		}
	}
	return rules
}

// Both ways to install the operator grant it the same rights, whatever the options.
func TestRightsThatAreAskedFor(t *testing.T) {
	all := object{}
	for _, name := range options(t) {
		all[name] = true
	}
	people := ofPeople(t)
	cases := map[string]struct {
		make   []string
		values chartutil.Values
	}{
		"nothing":                  {nil, nil},
		"all options":              {[]string{"RIGHTS=" + strings.Join(options(t), " ")}, chartutil.Values{"rights": all}},
		"an option":                {[]string{"RIGHTS=keda"}, chartutil.Values{"rights": object{"keda": true}}},
		"a namespace":              {[]string{"NAMESPACES=shop"}, chartutil.Values{"watchNamespaces": list{"shop"}}},
		"namespaces and an option": {[]string{"NAMESPACES=shop web", "RIGHTS=gatewayAPI"}, chartutil.Values{"watchNamespaces": list{"shop", "web"}, "rights": object{"gatewayAPI": true}}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			want, got := rulesOf(installer(t, test.make...)), rulesOf(render(t, test.values))
			assert.Empty(t, cmp.Diff(want, got), "the rights differ (-make +chart)")
			for name, role := range got {
				namespaced := test.values["watchNamespaces"] != nil
				if namespaced && strings.HasPrefix(name, "ClusterRole") && !slices.Contains(people, name) {
					t.Errorf("%s is there: %v", name, role)
				}
			}
		})
	}
}

// Where it serves some namespaces only, the manager knows which in both ways, and serves no metrics.
func TestTheManagerOfSomeNamespaces(t *testing.T) {
	name := "Deployment " + system + "/appservice-operator-controller-manager"
	want := render(t, chartutil.Values{"watchNamespaces": list{"shop", "web"}})[name].Object["spec"]
	got := installer(t, "NAMESPACES=shop web", "IMG=example.com/appservice-operator:v"+version(t))[name].Object["spec"]
	assert.Empty(t, cmp.Diff(want, got), "the managers differ (-chart +make)")
	if text := fmt.Sprint(got); !strings.Contains(text, "--metrics-bind-address=0") || !strings.Contains(text, "shop,web") {
		t.Errorf("the manager is %s", text)
	}
}

func TestAnOptionThatThereIsNotIsRefused(t *testing.T) {
	if _, err := rendered(t, chartutil.Values{"rights": object{"storage": true}}); err == nil || !strings.Contains(err.Error(), "rights.storage: there is no such right") {
		t.Errorf("got %v", err)
	}
	want := chartutil.Values{"watchNamespaces": list{"shop"}, "prometheus": object{"enabled": true}}
	if _, err := rendered(t, want); err == nil || !strings.Contains(err.Error(), "set rights.metrics to true") {
		t.Errorf("got %v", err)
	}
}

// The values of the chart name each option, and none is on unless it is asked for.
func TestNoOptionIsOn(t *testing.T) {
	values := read[object](t, filepath.Join(root, "config/chart/values.yaml"))["rights"].(object)
	for _, name := range options(t) {
		if on, there := values[name]; !there || on != false {
			t.Errorf("rights.%s is %v, want false", name, on)
		}
	}
	known := slices.Concat(options(t), []string{"cluster", "metrics", "people"})
	for name := range maps.Keys(values) {
		assert.Contains(t, known, name, "rights.%s is not an option", name)
	}
	if _, err := os.Stat(filepath.Join(root, "config/namespaced/kustomization.yaml")); err != nil {
		t.Error(err)
	}
}
