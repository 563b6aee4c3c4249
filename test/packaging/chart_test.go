package packaging

import (
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Helm logs each symbolic link of a chart, hundreds of lines around what failed.
func init() { log.SetOutput(io.Discard) }

const system = "appservice-operator-system"

// render renders the chart as helm install does, and returns the objects by kind, namespace and name.
func render(t *testing.T, values chartutil.Values) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := rendered(t, values)
	require.NoError(t, err)
	return objects
}

func rendered(t *testing.T, values chartutil.Values) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	return renderedAs(t, "appservice-operator", values)
}

// renderedAs is for a release of another name.
func renderedAs(t *testing.T, name string, values chartutil.Values) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	chart, err := loader.Load(filepath.Join(root, "config/chart"))
	require.NoError(t, err)
	release := chartutil.ReleaseOptions{Name: name, Namespace: system, Revision: 1, IsInstall: true}
	input, err := chartutil.ToRenderValues(chart, values, release, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, input)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for name, text := range files {
		if strings.HasSuffix(name, ".yaml") {
			objects = append(objects, documents(t, []byte(text))...)
		}
	}
	for _, crd := range chart.CRDObjects() {
		objects = append(objects, documents(t, crd.File.Data)...)
	}
	return byName(objects), nil
}

func byName(objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		found[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = object
	}
	return found
}

// The chart and the kustomize bases are two ways to the same objects.
func TestTheChartIsWhatKustomizeBuilds(t *testing.T) {
	want := byName(slices.Concat(kustomize(t, "default"), kustomize(t, "admission"), kustomize(t, "crd")))
	delete(want, "Namespace /"+system) // Helm makes the namespace, if it has to
	got := render(t, nil)
	for name, object := range want {
		if labels := object.GetLabels(); labels["app.kubernetes.io/managed-by"] != "" {
			labels["app.kubernetes.io/managed-by"] = "Helm"
			object.SetLabels(labels)
		}
		if object.GetKind() == "Deployment" {
			container := at[list](t, object.Object, "spec", "template", "spec", "containers")[0].(map[string]any)
			container["image"] = "example.com/appservice-operator:v" + version(t)
		}
		if got[name] == nil {
			t.Errorf("the chart has no %s", name)
			continue
		}
		assert.Empty(t, cmp.Diff(object.Object, got[name].Object), "%s differs (-config/ +config/chart)", name)
		delete(got, name)
	}
	for name := range got {
		t.Errorf("config/ has no %s", name)
	}
}

// Rights outside of the namespaces that are served.
var (
	ofCluster = []string{"ClusterRole /appservice-operator-manager-cluster-role", "ClusterRoleBinding /appservice-operator-manager-cluster-rolebinding"}
	ofMetrics = []string{
		"ClusterRole /appservice-operator-metrics-auth-role", "ClusterRoleBinding /appservice-operator-metrics-auth-rolebinding",
		"ClusterRole /appservice-operator-metrics-reader", "Service " + system + "/appservice-operator-controller-manager-metrics-service",
	}
)

// ofPeople are the roles of the users of each kind.
func ofPeople(t *testing.T) (names []string) {
	t.Helper()
	for _, entry := range read[list](t, filepath.Join(root, "watches.yaml")) {
		for _, who := range []string{"admin", "editor", "viewer"} {
			names = append(names, "ClusterRole /appservice-operator-"+strings.ToLower(at[string](t, entry.(object), "kind"))+"-"+who+"-role")
		}
	}
	return names
}

func TestChartValues(t *testing.T) {
	cases := map[string]struct {
		values chartutil.Values
		want   []string // objects that exist only with these values
		gone   []string // and those that are not
		env    string   // WATCH_NAMESPACE
		image  string
	}{
		"some namespaces": {
			values: chartutil.Values{"watchNamespaces": list{"one", "two"}},
			want: []string{
				"Role one/appservice-operator-manager-role", "RoleBinding one/appservice-operator-manager-rolebinding",
				"Role two/appservice-operator-manager-role", "RoleBinding two/appservice-operator-manager-rolebinding",
			},
			gone: slices.Concat(ofCluster, ofMetrics, []string{
				"ClusterRole /appservice-operator-manager-role", "ClusterRoleBinding /appservice-operator-manager-rolebinding",
			}),
			env: "one,two",
		},
		"one namespace, with rights outside of it": {
			values: chartutil.Values{"watchNamespaces": list{"one"}, "rights": object{"cluster": true, "metrics": true}},
			want:   []string{"Role one/appservice-operator-manager-role", "RoleBinding one/appservice-operator-manager-rolebinding"},
			gone:   []string{"ClusterRole /appservice-operator-manager-role", "ClusterRoleBinding /appservice-operator-manager-rolebinding"},
			env:    "one",
		},
		"all namespaces, and nothing outside of them, nor for people": {
			values: chartutil.Values{"rights": object{"cluster": false, "metrics": false, "people": false}},
			gone:   slices.Concat(ofCluster, ofMetrics, ofPeople(t)),
		},
		"monitoring and a network policy": {
			values: chartutil.Values{"prometheus": object{"enabled": true}, "networkPolicy": object{"enabled": true}},
			want: []string{
				"NetworkPolicy " + system + "/appservice-operator-allow-metrics-traffic",
				"PrometheusRule " + system + "/appservice-operator-controller-manager-alerts",
				"ServiceMonitor " + system + "/appservice-operator-controller-manager-metrics-monitor",
			},
		},
		"dashboards": {
			values: chartutil.Values{"grafana": object{"dashboards": object{"enabled": true, "namespace": "monitoring"}}},
			want:   []string{"ConfigMap monitoring/appservice-operator-fleet-dashboard", "ConfigMap monitoring/appservice-operator-operator-dashboard"},
		},
		"without admission policies": {
			values: chartutil.Values{"admission": object{"enabled": false}},
			gone:   slices.Collect(maps.Keys(byName(kustomize(t, "admission")))),
		},
		"an image by digest": {
			values: chartutil.Values{"image": object{"repository": "a/b", "tag": "c", "digest": "sha256:" + strings.Repeat("0", 64)}},
			image:  "a/b@sha256:" + strings.Repeat("0", 64),
		},
	}
	plain := render(t, nil)
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := render(t, test.values)
			want := maps.Clone(plain)
			for _, name := range test.gone {
				delete(want, name)
			}
			for _, name := range test.want {
				want[name] = nil
			}
			assert.Empty(t, cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))), "the objects differ (-want +got)")
			deployment := got["Deployment "+system+"/appservice-operator-controller-manager"]
			container := at[list](t, deployment.Object, "spec", "template", "spec", "containers")[0].(map[string]any)
			if env := container["env"].(list)[0].(map[string]any); env["name"] != "WATCH_NAMESPACE" || env["value"] != test.env {
				t.Errorf("got the environment %v, want WATCH_NAMESPACE=%s", env, test.env)
			}
			if test.image != "" && container["image"] != test.image {
				t.Errorf("got the image %v, want %s", container["image"], test.image)
			}
		})
	}
}

func TestTheChartHasTheDashboards(t *testing.T) {
	got := render(t, chartutil.Values{"grafana": object{"dashboards": object{"enabled": true}}})
	for name, file := range map[string]string{"fleet": "fleet.json", "operator": "operator.json"} {
		dashboard := got["ConfigMap "+system+"/appservice-operator-"+name+"-dashboard"]
		require.NotNil(t, dashboard, name)
		content, err := os.ReadFile(filepath.Join("../../config/grafana", file))
		require.NoError(t, err)
		assert.JSONEq(t, string(content), at[string](t, dashboard.Object, "data", file))
		assert.Equal(t, "1", dashboard.GetLabels()["grafana_dashboard"])
	}
}

// The optional objects of the chart are those that kustomize builds from the folders of these names.
func TestOptionalPartsOfTheChart(t *testing.T) {
	got := render(t, chartutil.Values{"prometheus": object{"enabled": true}, "networkPolicy": object{"enabled": true}})
	for _, folder := range []string{"prometheus", "network-policy"} {
		for _, object := range kustomize(t, folder) {
			name := object.GetKind() + " " + system + "/appservice-operator-" + object.GetName()
			if got[name] == nil {
				t.Errorf("the chart has no %s", name)
				continue
			}
			assert.Empty(t, cmp.Diff(object.Object["spec"], got[name].Object["spec"]), "%s differs (-config/%s +config/chart)", name, folder)
		}
	}
}
