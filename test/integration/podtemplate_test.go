//go:build cluster

package integration

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// patchOf is a patch of pods, from YAML.
func patchOf(spec string) *v1.PodTemplate {
	data, err := yaml.YAMLToJSON([]byte(spec))
	if err != nil {
		panic(err)
	}
	return &v1.PodTemplate{Spec: &runtime.RawExtension{Raw: data}}
}

// The patch is compared as the API server stores it: nothing is written after a restart. Its references count, and what it removes is rendered
// again when it ends.
func TestAPatchOfThePodsIsLikeAnyOtherField(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Data: map[string]string{"a": "1"}}
	cluster.Create(t, settings)
	app := harness.Seed(namespace, "web")
	app.Spec.Envs = []corev1.EnvVar{{Name: "KEPT", Value: "a"}, {Name: "GONE", Value: "a"}}
	app.Spec.PodTemplate = patchOf(`
shareProcessNamespace: true
topologySpreadConstraints: null
containers:
- name: app
  env: [{name: GONE, $patch: delete}]
  envFrom: [{configMapRef: {name: settings}}]
- name: spy
  image: busybox:1.37
  ports: [{containerPort: 9}]
  resources: {limits: {memory: 65536Ki}}
volumes:
- {name: tokens, projected: {sources: [{serviceAccountToken: {path: token}}]}}
`)
	app.Spec.PodTemplate.Metadata = &v1.PodTemplateMetadata{Labels: map[string]v1.Label{"tier": "front"}}
	cluster.CreateReady(t, app)
	first.Rest(t)
	first.Stop(t)
	var deployment appsv1.Deployment
	get(t, app, &deployment)
	pod := deployment.Spec.Template
	if len(pod.Spec.Containers) != 2 || pod.Spec.Containers[0].Name != "app" || pod.Labels["tier"] != "front" ||
		pod.Spec.ShareProcessNamespace == nil || len(pod.Spec.TopologySpreadConstraints) != 0 {
		t.Errorf("the pods are not as patched: %s", asText(t, pod))
	}

	second := cluster.Manager(t, namespace)
	second.Rest(t)
	if writes := second.Requests.WritesSince(0); len(writes) != 0 {
		t.Errorf("a restart wrote: %v", writes)
	}
	before := podTemplate(t, app)
	cluster.Edit(t, settings, func() { settings.Data["a"] = "2" })
	harness.Eventually(t, "the pods roll when the ConfigMap that the patch names changes", func() error {
		if podTemplate(t, app) == before {
			return errors.New("the template of the pods is as it was")
		}
		return nil
	})

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.PodTemplate = nil })
	cluster.Ready(t, app)
	get(t, app, &deployment)
	pod = deployment.Spec.Template
	if len(pod.Spec.Containers) != 1 || len(pod.Spec.Containers[0].Env) != 3 || len(pod.Spec.Volumes) != 0 ||
		pod.Spec.ShareProcessNamespace != nil || len(pod.Spec.TopologySpreadConstraints) != 2 || deployment.Annotations[v1.AnnotationPatched] != "" {
		t.Errorf("something of the patch is left: %s", asText(t, pod))
	}
}

func asText(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}
