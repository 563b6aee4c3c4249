//go:build cluster

package integration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
)

// workload is a kind of other controllers that has pods.
var workload = schema.GroupVersionKind{Group: "workloads.example.org", Version: "v1", Kind: "Rollout"}

// workloads is a template of such an object: its image says which rules its pods break.
const workloads = `apiVersion: workloads.example.org/v1
kind: Rollout
metadata: {name: {{ .Release.Name | quote }}}
spec:
  template:
    metadata: {labels: {app: {{ .Release.Name | quote }}}}
    spec:
      {{- if contains "host" .Values.image }}
      hostNetwork: true
      {{- end }}
      {{- if contains "nvidia" .Values.image }}
      runtimeClassName: nvidia
      {{- end }}
      containers:
      - {name: app, image: {{ .Values.image | quote }}}
`

// podsOfOtherKinds is the row of the mixed fleet with a chart that renders a kind that is not built in, with pods.
func podsOfOtherKinds(t *testing.T, before *former) {
	cluster.Install(t, harness.AnyCRD(workload, "rollouts"))
	grant(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: granted.Namespace, Name: granted.Account}}, before.namespace,
		[]rbacv1.PolicyRule{{APIGroups: []string{workload.Group}, Resources: []string{"rollouts"},
			Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}}})
	before.dir = files.Charts(t)
	templates := filepath.Join(before.dir, "helm-charts/appjob/templates")
	require.NoError(t, os.RemoveAll(templates))
	files.Write(t, filepath.Join(templates, "all.yaml"), workloads)
	before.start(t)
	resource := appJob(before.namespace, map[string]any{"image": "host-nvidia:1"})
	cluster.Create(t, resource)
	becomesReady(t, resource)
}

// podsOfOtherKindsAreChecked is what becomes of it: what it has stays, with a Warning for each rule, and no other may begin with it.
func podsOfOtherKindsAreChecked(t *testing.T, namespace string) {
	resource := appJob(namespace, nil)
	warned := func() {
		t.Helper()
		harness.Eventually(t, "it is ready, with two Warnings", func() error {
			problems, err := problemsOf(t, resource)
			return errors.Join(err, want("problems", len(problems), 2), want("Ready", strings.HasPrefix(readyOf(t, namespace)["AppJob report"], "True "), true))
		})
		var said []string
		problems, _, _ := unstructured.NestedSlice(resource.Object, "status", "problems")
		for _, entry := range problems {
			problem := entry.(map[string]any)
			assert.Equal(t, string(v1.ProblemWarning), problem["type"])
			said = append(said, problem["message"].(string))
		}
		assert.Contains(t, said[0], "hostNetwork")
		assert.Contains(t, said[1], "runtimeClassName nvidia")
	}
	warned()
	var options operator.Options
	cluster.Manager(t, cluster.Namespace(t), func(o *operator.Options, _ *harness.Requests) { options = *o })
	options.WatchNamespaces = []string{namespace}
	said, err := operator.CheckFiles(options, cluster.Config)
	require.NoError(t, err)
	said = linesAbout(said, namespace)
	require.Len(t, said, 2, "the check names it, too")
	assert.Contains(t, said[0], "runtimeClassName nvidia")
	assert.Contains(t, said[1], "AppJob "+namespace+"/report stays allowed, with a warning, and no other may begin with it: ")
	assert.Contains(t, said[1], "hostNetwork")
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(workload)
	cluster.Get(t, client.ObjectKeyFromObject(resource), live)
	assert.EqualValues(t, 1, live.GetGeneration())

	cluster.Edit(t, resource, func() {
		require.NoError(t, unstructured.SetNestedField(resource.Object, "host-nvidia:2", "spec", "image"))
	})
	cluster.Becomes(t, "another image is released", live, func() error {
		containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
		return want("image", containers[0].(map[string]any)["image"], any("host-nvidia:2"))
	})
	warned()
	for image, reason := range map[string]string{"host:1": v1.ReasonPodSecurityViolation, "nvidia:1": v1.ReasonPolicyViolation} {
		other := appJob(namespace, map[string]any{"image": image})
		other.SetName(image[:len(image)-2])
		cluster.Create(t, other)
		isNotReady(t, other, reason)
		require.NoError(t, gone(t, namespace, other.GetName(), live.DeepCopy()))
	}
	plain := appJob(namespace, map[string]any{"image": "busybox"})
	plain.SetName("plain")
	cluster.Create(t, plain)
	becomesReady(t, plain)
}
