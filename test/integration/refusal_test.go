//go:build cluster

package integration

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

func TestBadInputIsRefusedWithAMessageThatNamesTheField(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cases := map[string]struct{ name, spec, message string }{
		"unknown field":           {"web", `{image: nginx, imagee: x}`, `unknown field "spec.imagee"`},
		"missing image":           {"web", `{size: 1}`, "spec.image: Required value"},
		"injected image":          {"web", `{image: "x\n  hostNetwork: true"}`, "spec.image in body should match"},
		"bad quantity":            {"web", `{image: nginx, resources: {limits: {cpu: banana}}}`, "spec.resources.limits.cpu"},
		"request over limit":      {"web", `{image: nginx, resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}}`, "spec.resources.requests must not exceed spec.resources.limits"},
		"negative size":           {"web", `{image: nginx, size: -1}`, "spec.size in body should be greater than or equal to 0"},
		"name too long":           {strings.Repeat("a", 60), `{image: nginx}`, "metadata.name must be at most 53 characters"},
		"name with a dot":         {"a.b", `{image: nginx}`, "metadata.name must be at most 53 characters"},
		"name begins with digit":  {"1a", `{image: nginx}`, "metadata.name must be at most 53 characters"},
		"two envs of one name":    {"web", `{image: nginx, envs: [{name: A}, {name: A}]}`, "spec.envs[1]: Duplicate value"},
		"two ports of one name":   {"web", `{image: nginx, ports: [{port: 1, name: a}, {port: 2, name: a}]}`, "spec.ports[].name must be unique"},
		"one port twice":          {"web", `{image: nginx, ports: [{port: 1, name: a}, {port: 1, name: b}]}`, "spec.ports[1]: Duplicate value"},
		"ports without names":     {"web", `{image: nginx, ports: [{port: 1}, {port: 2}]}`, "spec.ports[].name is required"},
		"port name too long":      {"web", `{image: nginx, ports: [{port: 1, name: abcdefghijklmnop}]}`, "spec.ports[0].name"},
		"nodePort out of range":   {"web", `{image: nginx, ports: [{port: 1, nodePort: 70000}]}`, "spec.ports[0].nodePort"},
		"ingress without ports":   {"web", `{image: nginx, ingress: {hosts: [{host: a.b}]}}`, "spec.ingress needs at least one entry in spec.ports"},
		"ingress to unknown port": {"web", `{image: nginx, ports: [{port: 1}], ingress: {hosts: [{host: a.b, paths: [{port: 2}]}]}}`, "paths[].port must be the port of an entry in spec.ports"},
		"tls without host":        {"web", `{image: nginx, ports: [{port: 1}], ingress: {hosts: [{host: a.b}], tls: [{hosts: [c.d]}]}}`, "spec.ingress.tls[].hosts must be among spec.ingress.hosts[].host"},
		"tls without any host":    {"web", `{image: nginx, ports: [{port: 1}], ingress: {hosts: [{host: a.b}], tls: [{secretName: x}]}}`, "spec.ingress.tls[0].hosts: Required value"},
		"two issuers":             {"web", `{image: nginx, ports: [{port: 1}], ingress: {hosts: [{host: a.b}], issuer: a, clusterIssuer: b}}`, "spec.ingress takes issuer or clusterIssuer, not both"},
		"two database URLs":       {"web", `{image: nginx, config: {databaseUrl: a, databaseUrlFrom: {secretKeyRef: {name: a, key: b}}}}`, "spec.config takes databaseUrl or databaseUrlFrom, not both"},
		"config key":              {"web", `{image: nginx, config: {environment: {"a b": c}}}`, "spec.config.environment keys must be names of environment variables"},
		"too much config":         {"web", `{image: nginx, config: {environment: {A: ` + strings.Repeat("x", 20000) + `, B: ` + strings.Repeat("x", 20000) + `}}}`, "must not hold more than 32 KiB"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			text := "apiVersion: app.example.com/v1\nkind: AppService\nspec: " + test.spec
			require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
			object.SetNamespace(namespace)
			object.SetName(test.name)
			err := client.WithFieldValidation(cluster.Client, client.FieldValidation(metav1.FieldValidationStrict)).Create(t.Context(), object)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %q, want it to contain %q", err, test.message)
			}
		})
	}
}

func TestAFailingTemplateLeavesTheOldVersionAndHeals(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartWith(t, "templates/refuse.yaml",
			`{{- if eq .Values.image "nginx:refused" }}{{ fail "this image is refused: take another" }}{{ end }}`)
	})
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)

	manager.Rest(t)
	mark := manager.Requests.Mark()
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:refused" })
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRenderFailed)
	for _, part := range []string{"templates/refuse.yaml line 1", "this image is refused: take another"} {
		if !strings.Contains(condition.Message, part) {
			t.Errorf("the message lacks %q: %s", part, condition.Message)
		}
	}
	if app.Status.Phase != v1.PhaseDegraded {
		t.Errorf("phase: got %s, want Degraded: the old version serves", app.Status.Phase)
	}
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "nginx:1.7.9" {
		t.Errorf("the Deployment runs %s, want the old version", got)
	}
	if writes := manager.Requests.WritesSince(mark); len(writes) != 1 {
		t.Errorf("got %v, want one status write", writes)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.7.9" })
	cluster.Ready(t, app)
}

func TestAnUpgradeThatTheAPIServerRefusesLeavesTheOldVersionAndHeals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change, revert func(*v1.AppServiceSpec)
		field          string
		records        int // while it is refused
	}{
		"in a dry run": {
			func(s *v1.AppServiceSpec) { s.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"no address"}} },
			func(s *v1.AppServiceSpec) { s.DNSConfig = nil },
			"dnsConfig.nameservers[0]", 1,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, _ := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			cluster.CreateReady(t, app)
			cluster.Change(t, app, func(app *v1.AppService) {
				app.Spec.Image = "nginx:1.27"
				test.change(&app.Spec)
			})
			condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonUpgradeFailed)
			if !strings.Contains(condition.Message, test.field) {
				t.Errorf("the message does not name the field: %s", condition.Message)
			}
			cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonUpgradeFailed)
			deployment := &appsv1.Deployment{}
			get(t, app, deployment)
			if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "nginx:1.7.9" {
				t.Errorf("the Deployment runs %s: the refused release was applied in part", got)
			}
			assert.NoError(t, records(t, app, test.records))
			cluster.Change(t, app, func(app *v1.AppService) { test.revert(&app.Spec) })
			cluster.Ready(t, app)
			get(t, app, deployment)
			if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "nginx:1.27" {
				t.Errorf("the Deployment runs %s after the refusal healed", got)
			}
		})
	}
}

func TestAnInstallThatTheAPIServerRefusesMakesOneRevisionAndHeals(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{"services": resourceZero}
	cluster.Create(t, quota)
	cluster.Becomes(t, "the quota counts", quota, func() error { return want("resources counted", len(quota.Status.Used), 1) })
	app := harness.Seed(namespace, "web")
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInstallFailed)
	if !strings.Contains(condition.Message, "exceeded quota") {
		t.Errorf("the message does not tell the cause: %s", condition.Message)
	}
	cluster.Delete(t, quota)
	cluster.Ready(t, app)
	assert.NoError(t, records(t, app, 1))
}

// records returns an error unless an AppService has that many release records, besides those of earlier releases.
func records(t *testing.T, app *v1.AppService, count int) error {
	t.Helper()
	list := &corev1.SecretList{}
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(app.Namespace), client.MatchingLabels{"owner": "helm", "name": app.Name}); err != nil {
		return err
	}
	list.Items = slices.DeleteFunc(list.Items, func(record corev1.Secret) bool { return record.Labels["status"] == "superseded" })
	return want("release records", len(list.Items), count)
}

// chartWith copies the charts to a folder and adds a file to the chart.
func chartWith(t *testing.T, file, text string) string {
	t.Helper()
	dir := files.Charts(t)
	files.Write(t, filepath.Join(dir, "helm-charts/appservice", file), text)
	return dir
}
