package packaging

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

const managerKey = "Deployment " + system + "/appservice-operator-controller-manager"

// The certificate for metrics may be provided, or issued by cert-manager. The components of config and the values of the chart do the same.
func TestACertificateOfMetrics(t *testing.T) {
	const secret = "appservice-operator-metrics-certificate"
	cases := map[string]struct {
		component string
		values    object
		made      []string
	}{
		"that is given":           {"metrics-certificate", object{"secretName": secret}, nil},
		"that cert-manager makes": {"certmanager", object{"certManager": true}, []string{"Issuer " + system + "/appservice-operator-metrics", "Certificate " + system + "/appservice-operator-metrics"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := render(t, chartutil.Values{"metrics": object{"certificate": test.values}, "prometheus": object{"enabled": true}})
			want := byName(kustomizeWith(t, "default", test.component))
			container := at[list](t, want[managerKey].Object, "spec", "template", "spec", "containers")[0].(object)
			container["image"] = "example.com/appservice-operator:v" + version(t)
			for _, key := range append(test.made, managerKey) {
				assert.Empty(t, cmp.Diff(want[key].Object["spec"], got[key].Object["spec"]), "%s differs (-config/%s +config/chart)", key, test.component)
			}
			if !slices.Contains(at[list](t, container, "args"), any("--metrics-cert-path=/etc/metrics-certificate")) {
				t.Errorf("the manager is started with %v", container["args"])
			}
			verifies(t, got["ServiceMonitor "+system+"/appservice-operator-controller-manager-metrics-monitor"])
			for _, monitor := range kustomizeWith(t, "prometheus", test.component) {
				if monitor.GetKind() == "ServiceMonitor" {
					verifies(t, monitor)
				}
			}
		})
	}
}

// verifies checks that a scraper verifies the certificate by its authority, under the name that it is made for.
func verifies(t *testing.T, monitor *unstructured.Unstructured) {
	t.Helper()
	want := object{
		"ca":         object{"secret": object{"name": "appservice-operator-metrics-certificate", "key": "ca.crt"}},
		"serverName": "appservice-operator-controller-manager-metrics-service." + system + ".svc",
	}
	got := at[list](t, monitor.Object, "spec", "endpoints")[0].(object)["tlsConfig"]
	assert.Empty(t, cmp.Diff(any(want), got), "the ServiceMonitor verifies otherwise (-want +got)")
}

// The namespaces that run the manager enforce Pod Security restricted. Whatever way it is installed, it passes, has a root file system that it
// cannot write to, sees no other Services, and gets a token because it asks for one.
func TestTheManagerIsRestricted(t *testing.T) {
	templates := map[string]object{
		"bundle": at[object](t, at[list](t, csv(t).Object, "spec", "install", "spec", "deployments")[0].(object), "spec", "template"),
		"config/chart": at[object](t, render(t, chartutil.Values{
			"chart": object{"configMap": "charts"}, "metrics": object{"certificate": object{"secretName": "given"}},
		})[managerKey].Object, "spec", "template"),
		"config/default": at[object](t, byName(kustomize(t, "default"))[managerKey].Object, "spec", "template"),
	}
	for _, component := range []string{"chart-configmap", "chart-image", "certmanager"} {
		templates["config/"+component] = at[object](t, byName(kustomizeWith(t, "default", component))[managerKey].Object, "spec", "template")
	}
	for name, template := range templates {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.PodTemplateSpec{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod))
			isRestricted(t, pod)
			for _, container := range pod.Spec.Containers {
				if container.SecurityContext.ReadOnlyRootFilesystem == nil || !*container.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("container %s can write to its root file system", container.Name)
				}
			}
			if links := pod.Spec.EnableServiceLinks; links == nil || *links {
				t.Error("it has links to Services")
			}
			if mounts := pod.Spec.AutomountServiceAccountToken; mounts == nil || !*mounts {
				t.Error("it does not ask for its token")
			}
		})
	}
}

// isRestricted checks a pod as the API server does where it enforces or warns.
func isRestricted(t *testing.T, pod *corev1.PodTemplateSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
		assert.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
	}
}

// Other pods get the token of the manager only if they ask for it.
func TestTheTokenOfTheManagerIsMountedOnDemand(t *testing.T) {
	const key = "ServiceAccount " + system + "/appservice-operator-controller-manager"
	for name, objects := range map[string]map[string]*unstructured.Unstructured{"config/default": byName(kustomize(t, "default")), "config/chart": render(t, nil)} {
		assert.EqualValues(t, false, objects[key].Object["automountServiceAccountToken"], "%s: %v", name, objects[key])
	}
}
