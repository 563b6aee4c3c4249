//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// publishedKind is the kind of a chart that was written for Helm.
var publishedKind = schema.GroupVersionKind{Group: "published.example.org", Version: "v1", Kind: "Cache"}

// publishedFiles is a chart as charts for Helm are: with tpl, lookup, a random value that lands by default, a definition
// of a kind, rights of its own, an unknown field and a test.
var publishedFiles = map[string]string{
	"Chart.yaml": "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
	"values.yaml": "replicas: 1\nauth: {existingSecret: ''}\ntitle: '{{ .Release.Name }} cache'\nport: {number: 80}\n" +
		"clusterRole: {extraRules: []}\nextraObjects: []\nmigrate: {enabled: false}\n",
	"templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  annotations: {title: {{ tpl .Values.title . | quote }}}
spec:
  replicas: {{ .Values.replicas }}
  paused: false
  unheardOf: true
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers: [{name: cache, image: cache, ports: [{containerPort: {{ .Values.port.number }}}]}]
`,
	"templates/secret.yaml": `{{- if not .Values.auth.existingSecret }}
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}}
stringData:
  password: {{ (lookup "v1" "Secret" .Release.Namespace .Release.Name).data | default (randAlphaNum 16) | quote }}
{{- end }}
`,
	"templates/role.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
{{- with .Values.clusterRole.extraRules }}
{{ toYaml . }}
{{- end }}
`,
	"templates/extra.yaml": `{{- range .Values.extraObjects }}
---
{{ tpl (toYaml .) $ }}
{{- end }}
`,
	"templates/migrate.yaml": `{{- if .Values.migrate.enabled }}
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}-migrate, annotations: {helm.sh/hook: pre-upgrade}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
{{- end }}
`,
	"templates/crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unheards.example.org}
spec: {group: example.org, names: {kind: Unheard, plural: unheards}, scope: Namespaced, versions: [{name: v1}]}
`,
	"templates/tests/test.yaml": `apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}-{{ randAlpha 5 | lower }}, annotations: {helm.sh/hook: test}}
`,
}

// servePublished serves the chart in a namespace, with an entry of these further keys.
func servePublished(t *testing.T, namespace, keys string) *harness.Manager {
	t.Helper()
	dir, watches := publishedFolder(t, keys)
	return cluster.Unbound().Manager(t, namespace, func(o *operator.Options, _ *harness.Requests) { o.ChartDir, o.WatchesFile = dir, watches })
}

// publishedFolder returns a folder with the chart, and its file of entries, and installs the kind.
func publishedFolder(t *testing.T, keys string) (dir, watches string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range publishedFiles {
		files.Write(t, filepath.Join(dir, "cache", name), text)
	}
	watches = filepath.Join(dir, "watches.yaml")
	files.Write(t, watches, fmt.Sprintf("- {group: %s, version: v1, kind: Cache, chart: cache, from: published, renders: [Deployment.apps, Secret, Role.rbac.authorization.k8s.io, ConfigMap, Job.batch], %s}\n",
		publishedKind.Group, keys))
	cluster.Install(t, harness.WithStatus(harness.AnyCRD(publishedKind, "caches")))
	return dir, watches
}

func newCache(namespace, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(publishedKind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// refusedAs waits until a resource is not ready for a reason, with these words.
func refusedAs(t *testing.T, object *unstructured.Unstructured, reason string, words ...string) {
	t.Helper()
	harness.Eventually(t, "the resource is refused as "+reason, func() error {
		cluster.Refresh(t, object)
		if err := stands(object, map[string]string{v1.ConditionReady: "False " + reason}); err != nil {
			return err
		}
		for _, word := range words {
			if text := fmt.Sprint(object.Object["status"]); !strings.Contains(text, word) {
				return fmt.Errorf("%s does not say %q", text, word)
			}
		}
		return nil
	})
}

// A chart that was written for Helm is served as it was published, in all that it does not make itself.
func TestAPublishedChartIsServed(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	servePublished(t, namespace, `grants: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]`)
	cache := newCache(namespace, "a", map[string]any{})
	cluster.Create(t, cache)
	refusedAs(t, cache, v1.ReasonInvalidSpec, "stringData.password of Secret a differs in each render", "randAlphaNum (templates/secret.yaml:6)", "set spec.auth.existingSecret: NAME")
	secret := &corev1.Secret{}
	require.True(t, apierrors.IsNotFound(cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), secret)))

	cluster.Edit(t, cache, func() { cache.Object["spec"] = map[string]any{"auth": map[string]any{"existingSecret": "mine"}} })
	dropped := func() {
		t.Helper()
		harness.Eventually(t, "it is Ready, with one warning", func() error {
			problems, err := problemsOf(t, cache)
			if err != nil {
				return err
			}
			if err := stands(cache, map[string]string{v1.ConditionReady: "True " + v1.ReasonRunning}); err != nil {
				return err
			}
			if len(problems) != 1 || problems[0]["reason"] != v1.ReasonFieldDropped || !strings.Contains(problems[0]["message"], "spec.unheardOf") {
				return fmt.Errorf("its problems are %v", problems)
			}
			return nil
		})
	}
	dropped()
	deployment := &appsv1.Deployment{}
	cluster.Get(t, client.ObjectKeyFromObject(cache), deployment)
	require.Equal(t, "a cache", deployment.Annotations["title"])
	harness.Eventually(t, "an event names the definition that is missing", func() error {
		list := &corev1.EventList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == v1.ReasonDefinitionMissing && strings.Contains(e.Message, "does not have unheards.example.org")
		}) {
			return fmt.Errorf("there are %d other events", len(list.Items))
		}
		return nil
	})

	for name, test := range map[string]struct {
		spec  map[string]any
		words []string
	}{
		"a template": {map[string]any{"title": "{{ .Values.auth }}"}, []string{"spec.title: the chart would execute {{ .Values.auth }}", "templatesInSpec: true of Cache"}},
		"a kind":     {map[string]any{"extraObjects": []any{map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "x"}}}}, []string{`Service "x" is of a kind that is not among renders`}},
		"a rule": {map[string]any{"clusterRole": map[string]any{"extraRules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get"}}}}},
			[]string{`Role "a" grants rights that are not among grants`, "secrets"}},
		"a hook":       {map[string]any{"migrate": map[string]any{"enabled": true}}, []string{"as a Helm hook (pre-upgrade)", "set spec.migrate.enabled: false"}},
		"another type": {map[string]any{"port": "hunter2"}, []string{"spec.port does not fit the chart", "templates/deployment.yaml line 14"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.spec["auth"] = map[string]any{"existingSecret": "mine"}
			cluster.Edit(t, cache, func() { cache.Object["spec"] = test.spec })
			reason := v1.ReasonInvalidSpec
			if name == "another type" { // found by a template, not by the engine
				reason = v1.ReasonRenderFailed
			}
			refusedAs(t, cache, reason, test.words...)
			require.NotContains(t, fmt.Sprint(cache.Object["status"]), "hunter2")
		})
	}
	cluster.Edit(t, cache, func() {
		cache.Object["spec"] = map[string]any{"auth": map[string]any{"existingSecret": "mine"}, "replicas": int64(2)}
	})
	dropped()
	cluster.Delete(t, cache)
	role := &rbacv1.Role{}
	harness.Eventually(t, "all of it is deleted", func() error {
		for _, object := range []client.Object{deployment, role} {
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), object); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%T is there: %w", object, err)
			}
		}
		return nil
	})
}
