//go:build cluster

package injection

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appservice "github.com/example/appservice-operator"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/test/specs"
)

// kind is a kind of watches.yaml, with the leaves of its spec.
type kind struct {
	appchart.Watch
	maker    *specs.Maker
	leaves   []leaf
	renderer *render.Renderer
}

// foreignKinds are the kinds of other projects that the charts render: the cluster serves them.
var foreignKinds = []string{"gateway.networking.k8s.io/v1/HTTPRoute", "gateway.networking.k8s.io/v1/GRPCRoute", "gateway.networking.k8s.io/v1/ListenerSet", "monitoring.coreos.com/v1/ServiceMonitor", "keda.sh/v1alpha1/ScaledObject"}

func kinds(t *testing.T) []*kind {
	t.Helper()
	text, err := appservice.Files.ReadFile("watches.yaml")
	require.NoError(t, err)
	list, err := appchart.LoadWatches(text, appservice.Files)
	require.NoError(t, err)
	var kinds []*kind
	for _, watch := range list {
		if watch.Is() {
			continue // its templates are not ours
		}
		kinds = append(kinds, newKind(t, watch))
	}
	return kinds
}

func newKind(t *testing.T, watch appchart.Watch) *kind {
	t.Helper()
	name := strings.ToLower(watch.Kind)
	schema, _, err := specs.ReadSchema(filepath.Join(root, "config/crd/bases", watch.Group+"_"+name+"s.yaml"))
	require.NoError(t, err)
	k := &kind{Watch: watch, maker: &specs.Maker{Schema: whole(schema.Properties["spec"]), Table: map[string]specs.Entry{}}}
	for _, file := range []string{"../contract/values.yaml", "values.yaml"} {
		table, err := specs.ReadTable(file)
		require.NoError(t, err)
		for path, entry := range table {
			k.maker.Table[path] = entry
		}
	}
	k.leaves = leavesOf(k.maker.Schema, nil)
	k.renderer = &render.Renderer{
		Chart:      unguarded(watch.Chart),
		Translator: values.For(watch.GroupVersionKind, watch.Chart, watch.OverrideValues),
		Hooks:      postrender.Default(),
	}
	return k
}

// unguarded is a chart that refuses no values and no pods for their content: this is about those that are let through.
func unguarded(c *chart.Chart) *chart.Chart {
	copied, metadata := *c, *c.Metadata
	metadata.Annotations = map[string]string{appchart.AnnotationPodSecurity: string(postrender.Privileged)}
	copied.Metadata, copied.Schema = &metadata, nil
	return &copied
}

// whole completes a schema of a spec that leaves pods open: they have the fields that the spec has itself.
func whole(spec specs.Node) specs.Node {
	template, found := spec.Properties["podTemplate"]
	if !found {
		return spec
	}
	text := specs.Node{Type: "string"}
	pod := specs.Node{Type: "object", Properties: map[string]specs.Node{
		"containers": spec.Properties["sidecars"], "securityContext": spec.Properties["security"].Properties["pod"],
		"hostname": text, "subdomain": text, "schedulerName": text, "runtimeClassName": text, "nodeName": text, "serviceAccountName": text,
	}}
	for _, name := range []string{"affinity", "dnsConfig", "hostAliases", "initContainers", "nodeSelector", "priorityClassName", "tolerations", "topologySpreadConstraints", "volumes"} {
		pod.Properties[name] = spec.Properties[name]
	}
	template.Properties["spec"] = pod
	return spec
}

// spec makes a spec in which a leaf matters and holds a text.
func (k *kind) spec(t *testing.T, l leaf, text any) map[string]any {
	t.Helper()
	path := strings.TrimPrefix(pathOf(l.path), ".")
	if i := strings.Index(path, "{}"); i >= 0 {
		path = path[:i]
	}
	spec := l.put(k.maker.Schema, k.base(path), l.path, text).(map[string]any)
	return spec
}

// base is the rest of the spec, as far as the kind has such fields.
func (k *kind) base(path string) map[string]any {
	base := k.maker.Base(path)
	for name := range base {
		if _, found := k.maker.Schema.Properties[name]; !found {
			delete(base, name)
		}
	}
	return base
}

func (k *kind) render(t *testing.T, spec map[string]any) (*render.Result, error) {
	t.Helper()
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	resource.SetGroupVersionKind(k.GroupVersionKind)
	resource.SetName("web")
	resource.SetNamespace("demo")
	resource.SetUID("7f1b2f3e-0000-4000-8000-000000000000")
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = slices.Concat(capabilities.APIVersions, foreignKinds)
	return k.renderer.Render(t.Context(), resource, capabilities)
}
