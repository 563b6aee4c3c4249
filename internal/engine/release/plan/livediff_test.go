package plan

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
)

const everything = `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web, namespace: demo, uid: owner}
spec:
  size: 2
  image: nginx:1.27
  resources: {limits: {cpu: 500m, memory: 64Mi}}
  envs:
  - {name: PLAIN, value: text}
  - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
  envFrom: [{secretRef: {name: more}}]
  config: {environment: {GREETING: hello}, logLevel: debug, databaseUrl: "postgres://user:hush@db/web"}
  ports:
  - {name: http, port: 80, targetPort: 8080, nodePort: 30002, protocol: TCP}
  - {name: dns, port: 53, protocol: UDP}
  - {name: dns-tcp, port: 53, protocol: TCP}
  ingress:
    className: nginx
    clusterIssuer: letsencrypt
    hosts: [{host: web.example.com, paths: [{path: /a, port: 80}, {path: /b, port: 80}]}]
    tls: [{hosts: [web.example.com]}]
`

// renderedOnce is what the embedded chart makes of a resource that uses much of it.
func renderedOnce(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	if _, err := fs.Stat(appservice.Files, "helm-charts/appservice"); err != nil {
		t.Fatal(err)
	}
	loaded, err := chart.Load(appservice.Files, "helm-charts/appservice")
	require.NoError(t, err)
	renderer := &render.Renderer{
		Chart:      loaded,
		Translator: values.For(v1.GroupVersion.WithKind(v1.Kind), loaded, nil),
		Hooks:      postrender.Default(),
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	result, err := renderer.Render(context.Background(), object(t, everything), capabilities)
	require.NoError(t, err)
	return result.Objects
}

func TestWhatWasRenderedDoesNotDifferFromItself(t *testing.T) {
	rendered := renderedOnce(t)
	live := there()
	for _, object := range rendered {
		live[kube.KeyOf(object)] = object.DeepCopy()
	}
	if plan := Compare(rendered, live); !plan.Empty() {
		t.Errorf("got %s", plan)
	}
}

// Whatever leaf of a rendered object someone changes or deletes, it is noticed.
func TestEveryRenderedFieldIsGuarded(t *testing.T) {
	for _, desired := range renderedOnce(t) {
		for _, path := range leaves(desired.Object, nil) {
			if slices.Equal(path, []any{"metadata", "annotations", postrender.AnnotationStamp}) {
				continue // reported as "rendered again", in TestCompare
			}
			t.Run(fmt.Sprintf("%s %v", kube.KeyOf(desired), path), func(t *testing.T) {
				changed := desired.DeepCopy()
				put(t, changed, "tampered", path...)
				deleted := desired.DeepCopy()
				without(t, deleted, path...)
				for what, live := range map[string]*unstructured.Unstructured{"changed": changed, "deleted": deleted} {
					change := CompareObject(desired, live)
					if change == nil || change.Field == "" {
						t.Errorf("%s: it was not noticed", what)
					}
				}
			})
		}
	}
}

// leaves lists the paths of the scalars below a node.
func leaves(node any, path []any) [][]any {
	var out [][]any
	switch node := node.(type) {
	case map[string]any:
		for _, key := range sortedKeys(node) {
			out = append(out, leaves(node[key], append(slices.Clone(path), key))...)
		}
	case []any:
		for i, item := range node {
			out = append(out, leaves(item, append(slices.Clone(path), i))...)
		}
	default:
		out = append(out, path)
	}
	return out
}

// The lists that others may add to are those that the API server merges by key, in the schemas that it publishes.
func TestMergeKeysAreThoseOfTheAPI(t *testing.T) {
	kinds := map[string]string{
		"Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1", "CronJob": "batch/v1",
		"Service": "v1", "ConfigMap": "v1", "Secret": "v1", "PersistentVolumeClaim": "v1",
		"Ingress": "networking.k8s.io/v1", "NetworkPolicy": "networking.k8s.io/v1", "PodDisruptionBudget": "policy/v1",
		"HorizontalPodAutoscaler": "autoscaling/v2", "Role": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
	}
	// Lists of a pod that no chart for a web service renders.
	never := []string{"ephemeralContainers", "schedulingGates", "resourceClaims", "claims", "evictionResponders"}
	for kind, version := range kinds {
		t.Run(kind, func(t *testing.T) {
			for path, keys := range keyedLists(t, version, kind) {
				if slices.Contains(never, path[strings.LastIndex(path, ".")+1:]) || strings.Contains(path, ".status.") || strings.HasPrefix(path, ".metadata.managedFields") {
					continue
				}
				if got := keysFor(path); !slices.Equal(got, keys) {
					t.Errorf("%s: got keys %v, want %v", path, got, keys)
				}
			}
		})
	}
}

// keyedLists returns the keys of all lists of a kind as its schema has them, by path; nil for a list that is one value.
func keyedLists(t *testing.T, version, kind string) map[string][]string {
	t.Helper()
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	typed, err := converter.ObjectToTyped(object(t, fmt.Sprintf("{apiVersion: %s, kind: %s}", version, kind)))
	require.NoError(t, err)
	lists := map[string][]string{}
	published := typed.Schema()
	top := typed.TypeRef()
	visited := map[string]int{}
	var visit func(path, name string)
	visit = func(path, name string) {
		if visited[name] > 1 { // recursive types
			return
		}
		visited[name]++
		defer func() { visited[name]-- }()
		definition, found := published.FindNamedType(name)
		if !found || definition.Map == nil {
			return
		}
		for _, field := range definition.Fields {
			below := path + "." + field.Name
			if below == ".status" {
				continue
			}
			atom, found := published.Resolve(field.Type)
			if !found {
				continue
			}
			if atom.List != nil {
				lists[below] = nil
				if len(atom.Keys) > 0 {
					lists[below] = atom.Keys
				}
				below += "[x]"
				if atom.List.ElementType.NamedType != nil {
					visit(below, *atom.List.ElementType.NamedType)
				}
				continue
			}
			if field.Type.NamedType != nil {
				visit(below, *field.Type.NamedType)
			}
		}
	}
	visit("", *top.NamedType)
	if len(lists) == 0 {
		t.Fatal("the schema has no lists")
	}
	return lists
}

// The order of a list that is merged by key counts where it means something; items of others between them do not.
func TestTheOrderOfLists(t *testing.T) {
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {%s}}}}"
	for name, test := range map[string]struct {
		rendered, live string
		field          string // that differs; empty for none
	}{
		"variables":       {"containers: [{name: app, env: [{name: A}, {name: B}]}]", "containers: [{name: app, env: [{name: B}, {name: A}]}]", "containers[app].env"},
		"init containers": {"initContainers: [{name: a}, {name: b}]", "initContainers: [{name: b}, {name: a}]", "initContainers"},
		"containers":      {"containers: [{name: a}, {name: b}]", "containers: [{name: b}, {name: a}]", "containers"},
		"mounts":          {"containers: [{name: a, volumeMounts: [{mountPath: /a}, {mountPath: /a/b}]}]", "containers: [{name: a, volumeMounts: [{mountPath: /a/b}, {mountPath: /a}]}]", "containers[a].volumeMounts"},
		"host aliases":    {"hostAliases: [{ip: 1.1.1.1}, {ip: 2.2.2.2}]", "hostAliases: [{ip: 2.2.2.2}, {ip: 1.1.1.1}]", "hostAliases"},
		"volumes":         {"volumes: [{name: a}, {name: b}]", "volumes: [{name: b}, {name: a}]", ""},
		"ports":           {"containers: [{name: a, ports: [{containerPort: 1}, {containerPort: 2}]}]", "containers: [{name: a, ports: [{containerPort: 2}, {containerPort: 1}]}]", ""},
		"three of four":   {"initContainers: [{name: a}, {name: b}, {name: c}, {name: d}]", "initContainers: [{name: a}, {name: c}, {name: d}, {name: b}]", "initContainers"},
	} {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, fmt.Sprintf(deployment, test.rendered)), object(t, fmt.Sprintf(deployment, test.live))
			change := CompareObject(desired, live)
			if test.field == "" {
				if change != nil {
					t.Errorf("it differs: %s", change)
				}
				return
			}
			if change == nil || change.Field != "spec.template.spec."+test.field || !change.onlyOrder || change.rolling != rolls {
				t.Errorf("got %+v", change)
			}
			plan := Compare([]*unstructured.Unstructured{desired}, there(live))
			if err := plan.Disordered(); err == nil || !strings.Contains(err.Error(), test.field+" has another order than is rendered") {
				t.Errorf("got %v", err)
			}
			if plan.KeepOrder(); !plan.Empty() || plan.Disordered() != nil {
				t.Errorf("what is left of the plan is %s", plan)
			}
		})
	}
	between := object(t, fmt.Sprintf(deployment, "containers: [{name: a}, {name: injected}, {name: b}]"))
	if change := CompareObject(object(t, fmt.Sprintf(deployment, "containers: [{name: a}, {name: b}]")), between); change == nil || change.onlyOrder {
		t.Errorf("a container that was added is taken for an order: %+v", change)
	}
}
