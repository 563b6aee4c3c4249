package packaging

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/test/files"
)

// The charts that are served may come from a ConfigMap or an image. The components of config do the same.
func TestChartsThatAreMounted(t *testing.T) {
	cases := map[string]struct {
		component string
		values    object
		volume    object
	}{
		"from a ConfigMap": {"chart-configmap", object{"configMap": "appservice-operator-charts"}, object{"configMap": object{"name": "appservice-operator-charts"}}},
		"from an image":    {"chart-image", object{"image": object{"reference": "charts"}}, object{"image": object{"reference": "charts", "pullPolicy": "IfNotPresent"}}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			const deployment = "Deployment " + system + "/appservice-operator-controller-manager"
			got := at[object](t, render(t, chartutil.Values{"chart": test.values})[deployment].Object, "spec", "template", "spec")
			want := at[object](t, byName(kustomizeWith(t, "default", test.component))[deployment].Object, "spec", "template", "spec")
			container := at[list](t, want, "containers")[0].(object)
			container["image"] = "example.com/appservice-operator:v" + version(t)
			assert.Empty(t, cmp.Diff(want, got), "the pod differs (-config/%s +config/chart)", test.component)
			assert.Contains(t, at[list](t, container, "args"), any("--chart-dir=/charts"), "the manager is started with %v", container["args"])
			volume := maps.Clone(test.volume)
			volume["name"] = "charts"
			assert.Empty(t, cmp.Diff(volume, at[list](t, got, "volumes")[0]), "the first volume differs (-want +got)")
		})
	}
	_, err := rendered(t, chartutil.Values{"chart": object{"configMap": "a", "image": object{"reference": "b"}}})
	assert.ErrorContains(t, err, "the charts come from one of them", "both a ConfigMap and an image: got error %v", err)
}

// kustomizeWith builds a folder of config/ with a component that is beside it.
func kustomizeWith(t *testing.T, folder, component string) []*unstructured.Unstructured {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	up, err := filepath.Rel(dir, here)
	require.NoError(t, err)
	text := "resources: [" + up + "/config/" + folder + "]\ncomponents: [" + up + "/config/" + component + "]\n"
	files.Write(t, filepath.Join(dir, "kustomization.yaml"), text)
	return documents(t, tool(t, "kustomize", "build", dir))
}

// However it is installed, the manager reads its policy from the same ConfigMap, which need not be there: then it is the built-in policy shared.
func TestEachInstallationFollowsTheSamePolicy(t *testing.T) {
	manifests := map[string]string{"the installation chart": root + "/config/chart/templates/deployment.yaml"}
	for name, file := range map[string]string{
		"make deploy, and one file": "config/manager/manager.yaml", "the bundle": "bundle/manifests/appservice-operator.clusterserviceversion.yaml",
	} {
		manifests[name] = filepath.Join(root, file)
	}
	for name, file := range manifests {
		manifest := strings.Join(strings.Fields(text(t, file)), " ")
		for _, part := range []string{"- --policy=/etc/appservice-policy/policy.yaml", "mountPath: /etc/appservice-policy", "configMap: name: appservice-policy optional: true"} {
			assert.Contains(t, manifest, part, name)
		}
	}
}

// The policy is a ConfigMap of the name that the manager's pod mounts, if there is one.
func TestThePolicyOfTheChart(t *testing.T) {
	const name = "ConfigMap " + system + "/appservice-policy"
	assert.Nil(t, render(t, nil)[name], "without a policy there is a ConfigMap, which takes the place of one that somebody makes")
	file := filepath.Join(root, "config/samples/tenant/policy.yaml")
	got := render(t, chartutil.Values{"policy": read[object](t, file)})[name]
	require.NotNil(t, got, "there is no ConfigMap of the policy")
	text := at[string](t, got.Object, "data", "policy.yaml")
	if _, err := policy.Read("policy.yaml", []byte(text)); err != nil {
		t.Errorf("the manager cannot read it: %v\n%s", err, text)
	}
	open := render(t, chartutil.Values{"policy": read[object](t, filepath.Join(root, "config/samples/open/policy.yaml"))})[name]
	require.NotNil(t, open, "there is no ConfigMap of the policy")
	assert.Equal(t, "builtIn: open\n", at[string](t, open.Object, "data", "policy.yaml"))
}
