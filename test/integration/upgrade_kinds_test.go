//go:build cluster

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/kinds"
)

const clusterRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "{{ .Release.Namespace }}-{{ .Release.Name }}"}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "{{ .Release.Namespace }}-{{ .Release.Name }}"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "{{ .Release.Namespace }}-{{ .Release.Name }}"}
subjects: [{kind: ServiceAccount, name: default, namespace: "{{ .Release.Namespace }}"}]
`

const oneKindMore = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-more"}
data: {key: value}
`

// upgradesOfKinds are kinds that make kind began, in a folder of charts with the entry of their kind. A row may change the folder,
// and after the version before has stopped, once more.
var upgradesOfKinds = map[string]struct {
	before, meanwhile func(t *testing.T, dir string)
	after             func(t *testing.T, resource *unstructured.Unstructured)
}{
	"as it was made": {},
	"with a ClusterRole": {before: func(t *testing.T, dir string) {
		files.Write(t, filepath.Join(dir, "helm-charts/probe/templates/role.yaml"), clusterRole)
	}},
	"of a ConfigMap, which renders one kind more": {
		before: func(t *testing.T, dir string) { asConfigMap(t, dir, "1") },
		meanwhile: func(t *testing.T, dir string) {
			files.Write(t, filepath.Join(dir, "unpacked/templates/more.yaml"), oneKindMore)
			asConfigMap(t, dir, "2")
		},
		after: func(t *testing.T, resource *unstructured.Unstructured) {
			cluster.Get(t, client.ObjectKey{Namespace: resource.GetNamespace(), Name: resource.GetName() + "-more"}, &corev1.ConfigMap{})
		},
	},
	"with a key in its entry that is not known": {
		meanwhile: func(t *testing.T, dir string) {
			replaceIn(t, filepath.Join(dir, "watches.yaml"), "kind: Probe\n", "kind: Probe\n  fromLater: true\n")
		},
	},
}

// asConfigMap puts a folder's chart, or the changed one, into a package as a volume of a ConfigMap has it.
func asConfigMap(t *testing.T, dir, version string) {
	t.Helper()
	chart, unpacked := filepath.Join(dir, "helm-charts/probe"), filepath.Join(dir, "unpacked")
	if _, err := os.Stat(unpacked); err != nil {
		require.NoError(t, os.Rename(chart, unpacked))
	}
	loaded, err := loader.Load(unpacked)
	require.NoError(t, err)
	packed, err := chartutil.Save(loaded, t.TempDir())
	require.NoError(t, err)
	text, err := os.ReadFile(packed)
	require.NoError(t, err)
	files.Write(t, filepath.Join(dir, "helm-charts/.."+version+"/probe.tgz"), string(text))
	link := func(target, name string) {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "helm-charts", name+".new")))
		require.NoError(t, os.Rename(filepath.Join(dir, "helm-charts", name+".new"), filepath.Join(dir, "helm-charts", name)))
	}
	link(".."+version, "..data")
	link("..data/probe.tgz", "probe.tgz")
}

// An upgrade of the operator changes nothing that runs of kinds without Go, and no role.
func TestAnUpgradeChangesNothingOfKindsWithoutGo(t *testing.T) {
	t.Parallel()
	commit, err := os.ReadFile(fleetBefore)
	require.NoError(t, err)
	binary := managerOf(t, strings.TrimSpace(string(commit)))
	kind := v1.GroupVersion.WithKind("Probe")
	cluster.Install(t, harness.WithStatus(harness.AnyCRD(kind, "probes")))
	for name, row := range upgradesOfKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unbound, namespace := cluster.Unbound(), cluster.Namespace(t)
			before := &former{namespace: namespace, binary: binary, kubeconfig: unbound.NewProxy(t).Kubeconfig,
				concurrent: 10, failed: 3, deadline: 15 * time.Minute, dir: files.Charts(t)}
			before.watches = filepath.Join(before.dir, "watches.yaml")
			files.Write(t, before.watches, string(files.Text(t, "watches.yaml")))
			_, err := kinds.Scaffold(before.dir, kind.Kind)
			require.NoError(t, err)
			if row.before != nil {
				row.before(t, before.dir)
			}
			before.start(t)
			probe, app := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": "nginx"}}}, harness.Seed(namespace, "web")
			probe.SetGroupVersionKind(kind)
			probe.SetNamespace(namespace)
			probe.SetName("probe")
			cluster.Create(t, probe)
			becomesReady(t, probe)
			app.Spec.Ports[0].NodePort = nil
			cluster.CreateReady(t, app)
			before.stop()
			running, ready, roles := uidsOf(t, namespace), readyOf(t, namespace, kind.Kind), rolesOf(t, namespace)
			if row.meanwhile != nil {
				row.meanwhile(t, before.dir)
			}

			manager := unbound.Manager(t, namespace, before.options)
			manager.Rest(t)
			assert.Equal(t, running, uidsOf(t, namespace))
			assert.Equal(t, ready, readyOf(t, namespace, kind.Kind))
			assert.Equal(t, roles, rolesOf(t, namespace))
			t.Logf("%d objects that run, %v, %d roles", len(running), ready, len(roles))
			if row.after != nil {
				row.after(t, probe)
			}
		})
	}
}

// rolesOf returns the versions of the cluster-wide roles and bindings of a namespace's charts.
func rolesOf(t *testing.T, namespace string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind(kind))
		cluster.List(t, list)
		for _, object := range list.Items {
			if strings.HasPrefix(object.Name, namespace+"-") {
				all[kind+" "+object.Name] = object.ResourceVersion
			}
		}
	}
	return all
}
