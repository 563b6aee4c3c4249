//go:build cluster

package chart

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/internal/plugin"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// TestAKindNeedsNoGo adds a kind as a maintainer does, and has this operator serve it.
func TestAKindNeedsNoGo(t *testing.T) {
	r := copyOfRepository(t)
	r.run(t, "make kind KIND=Probe")
	r.run(t, "make generate golden bundle") // the bundle is validated
	r.has(t, map[string][]string{
		"config/crd/bases/app.example.com_probes.yaml":                    {"kind: Probe\n", `jsonPath: .status.conditions[?(@.type=="Ready")].reason`},
		"config/crd/kustomization.yaml":                                   {"- bases/app.example.com_probes.yaml\n"},
		"config/rbac/role.yaml":                                           {"probes]\n", "probes/status]\n", "probes/finalizers]\n"},
		"config/rbac/probe_viewer_role.yaml":                              {"resources: [probes]\n"},
		"config/rbac/kustomization.yaml":                                  {"- probe_admin_role.yaml\n- probe_editor_role.yaml\n- probe_viewer_role.yaml\n"},
		"config/chart/crds/app.example.com_probes.yaml":                   {"kind: Probe\n"},
		"config/samples/kustomization.yaml":                               {"- app_v1_probe.yaml\n"},
		"docs/recipes.md":                                                 {"### Probe\n"},
		"docs/reference/probe.md":                                         {"replicas"},
		"helm-charts/probe/values.yaml":                                   {"replicas: 1\n"},
		"helm-charts/probe/values.schema.json":                            {`"replicas"`},
		"test/testdata/kinds/probe/minimal/golden.yaml":                   {"kind: Deployment\n", "image: nginx:1.29\n"},
		"bundle/manifests/app.example.com_probes.yaml":                    {"kind: Probe\n"},
		"bundle/manifests/appservice-operator.clusterserviceversion.yaml": {"displayName: Probe\n", "name: probes.app.example.com\n"},
	})
	r.neededNoGo(t)
	r.run(t, "go tool -modfile=tools/pins/helm-unittest/go.mod helm-unittest --strict helm-charts/probe")
	r.run(t, "go test -count=1 ./internal/engine/chart/rbac ./tools/kinds")
	cluster, probe := isServed(t, r, "config/crd/bases/app.example.com_probes.yaml", "config/samples/app_v1_probe.yaml")
	probeGoesBack(t, cluster, probe)
	aFurtherKindBringsItsRight(t, r)
	if !t.Failed() {
		show("kind_without_go", "ok")
	}
}

// isServed runs the operator with the charts of a copy of the repository, and applies a sample.
func isServed(t *testing.T, r repository, crd, file string) (cluster *harness.Cluster, sample *unstructured.Unstructured) {
	t.Helper()
	cluster = controlPlane(t)
	cluster.Install(t, files.CRD(t, r.path(crd)))
	namespace := cluster.Namespace(t)
	cluster.Unbound().Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.WatchesFile = r.path("watches.yaml") })
	sample = &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(r.read(t, file)), &sample.Object))
	sample.SetNamespace(namespace)
	cluster.Create(t, sample, client.FieldValidation(metav1.FieldValidationStrict))
	cluster.Becomes(t, "the "+sample.GetKind()+" is ready", sample, func() error {
		list, _, _ := unstructured.NestedSlice(sample.Object, "status", "conditions")
		for _, entry := range list {
			if condition := entry.(map[string]any); condition["type"] == v1.ConditionReady && condition["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", list)
	})
	return cluster, sample
}

// probeGoesBack changes a resource, and has kubectl appservice undo that: records are the same for all kinds.
func probeGoesBack(t *testing.T, cluster *harness.Cluster, probe *unstructured.Unstructured) {
	t.Helper()
	name := "probe/" + probe.GetName()
	run := func(args ...string) string {
		streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
		if code := plugin.Run(t.Context(), append(args, "--kubeconfig="+cluster.Kubeconfig, "--namespace="+probe.GetNamespace()), streams); code != 0 {
			t.Fatalf("%v ends with %d: %s", args, code, stderr)
		}
		return stdout.String()
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"image":"nginx:1.30"}}`))
	cluster.Patch(t, probe, patch, client.FieldOwner("ada"))
	harness.Eventually(t, "the change is recorded", func() error {
		if said := run("history", name); !strings.Contains(said, "ada") || !strings.Contains(said, "spec.image nginx:1.29 → nginx:1.30") {
			return errors.New(said)
		}
		return nil
	})
	assert.Contains(t, run("undo", name, "--yes"), name+" has the spec of revision 1 again")
	cluster.Refresh(t, probe)
	if image, _, _ := unstructured.NestedString(probe.Object, "spec", "image"); image != "nginx:1.29" {
		t.Errorf("then its image is %q", image)
	}
}

// aFurtherKindBringsItsRight adds templates of further kinds: one of Kubernetes, and one whose resource name the chart has to declare.
func aFurtherKindBringsItsRight(t *testing.T, r repository) {
	t.Helper()
	r.write(t, "helm-charts/probe/templates/class.yaml", `apiVersion: storage.k8s.io/v1
kind: VolumeAttributesClass
metadata:
  name: {{ .Release.Name | quote }}
driverName: none
`)
	r.run(t, "make manifests")
	if role := r.read(t, "config/rbac/cluster_role.yaml"); !strings.Contains(role, "resources: [volumeattributesclasses]\n  verbs: [get, list, watch, create, patch, delete]\n") {
		t.Errorf("the right is not there: %s", role)
	}
	r.write(t, "helm-charts/probe/templates/bucket.yaml", "apiVersion: example.com/v1\nkind: Bucket\nmetadata:\n  name: {{ .Release.Name | quote }}\n")
	output, err := r.try(t, "make manifests")
	const missing = "annotations:\n  app.example.com/foreign-kinds: |\n    Bucket.example.com: {resource: buckets}\n"
	if err == nil || !strings.Contains(output, missing) {
		t.Errorf("make manifests returns %v and says\n%s\nwant %s", err, output, missing)
	}
	r.write(t, "helm-charts/probe/Chart.yaml", r.read(t, "helm-charts/probe/Chart.yaml")+strings.ReplaceAll(missing, "}", ", option: storage}"))
	r.run(t, "make manifests")
	assert.Contains(t, r.read(t, "config/rights/storage/kustomization.yaml"), "resources: [buckets]\n", "the option is not there")
}
