package kinds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart/rbac"
)

func TestBuiltIn(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]struct{ found, clusterScoped bool }{
		{Version: "v1", Kind: "ConfigMap"}:                                                           {true, false},
		{Version: "v1", Kind: "Namespace"}:                                                           {true, true},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:                           {true, false},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}:                     {true, true},
		{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass"}:                      {true, true},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}:                       {true, false},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"}: {true, true},
		{Group: "apps", Version: "v1", Kind: "Bucket"}:                                               {},
		{Group: "apps.example.com", Version: "v1", Kind: "Deployment"}:                               {},
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}:                      {},
		{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}:                       {},
	} {
		if found, clusterScoped := builtIn(kind); found != want.found || clusterScoped != want.clusterScoped {
			t.Errorf("%s: got built in %t, outside of namespaces %t", kind, found, clusterScoped)
		}
	}
}

// repository is a folder with a chart of the kind Probe, which renders what the templates name.
func repository(t *testing.T, chart string, templates ...string) (root string, list []kind) {
	t.Helper()
	root = t.TempDir()
	put(t, root, "helm-charts/probe/Chart.yaml", "apiVersion: v2\nname: probe\nversion: 1.0.0\n"+chart)
	for _, name := range templates {
		version, kind, _ := strings.Cut(name, " ")
		put(t, root, "helm-charts/probe/templates/"+kind+".yaml", "apiVersion: "+version+"\nkind: "+kind+"\nmetadata: {name: x}\n")
	}
	for _, folder := range []string{"config/rbac", "config/chart/files/rights"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Names.Plural = "probes"
	return root, []kind{{Group: "app.example.com", Version: "v1", Kind: "Probe", Chart: "helm-charts/probe", crd: crd}}
}

func TestRightsFollowFromTemplates(t *testing.T) {
	const bucket = "annotations:\n  app.example.com/foreign-kinds: |\n    Bucket.example.com: {resource: pails, clusterScoped: true, option: storage}\n"
	root, list := repository(t, bucket, "batch/v1 CronJob", "storage.k8s.io/v1 VolumeAttributesClass", "example.com/v1 Bucket")
	put(t, root, "config/rights/gone/kustomization.yaml", "")
	put(t, root, "config/chart/files/rights/gone.yaml", "")
	require.NoError(t, grants(root, list))
	const verbs = "  verbs: [get, list, watch, create, patch, delete]\n"
	for name, parts := range map[string][]string{
		rbac.RoleFile: {
			"- apiGroups: [batch]\n  resources: [cronjobs]\n" + verbs,
			"- apiGroups: [app.example.com]\n  resources: [probes]\n  verbs: [patch]\n", // it has a finalizer
			"- apiGroups: [\"\"]\n  resources: [configmaps, persistentvolumeclaims, serviceaccounts]\n  verbs: [get, list, watch]\n",
		},
		namespacedFile:       {"kind: Role\n", "resources: [cronjobs]\n"},
		rbac.ClusterRoleFile: {"- apiGroups: [storage.k8s.io]\n  resources: [volumeattributesclasses]\n" + verbs},
		"config/rights/storage/kustomization.yaml": {
			"      value:\n        apiGroups: [example.com]\n        resources: [pails]\n      " + verbs, "manager-cluster-role",
		},
		"config/chart/files/rights/storage.yaml": {"pails"}, // a link
	} {
		text := read(t, root, name)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no\n%s\nit is\n%s", name, part, text)
			}
		}
	}
	for _, name := range []string{"config/rights/gone", "config/chart/files/rights/gone.yaml"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s is left, though no chart names the option", name)
		}
	}
}

func TestAKindThatNobodyKnowsIsNamed(t *testing.T) {
	root, list := repository(t, "", "example.com/v1 Bucket")
	err := grants(root, list)
	for _, part := range []string{"helm-charts/probe/templates/Bucket.yaml renders Bucket", "declare its resource name in helm-charts/probe/Chart.yaml", "    Bucket.example.com: {resource: buckets}"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %s", err, part)
		}
	}
}
