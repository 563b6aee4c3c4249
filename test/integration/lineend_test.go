//go:build cluster

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// endsOfDocuments is a template whose documents end with texts, without their line ends as earlier operators read them.
const endsOfDocuments = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-open"}
data:
  run.sh: |-
    echo one
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-sealed"}
immutable: true
data:
  run.sh: |-
    echo one
---
apiVersion: v1
kind: Secret
metadata: {name: "{{ .Release.Name }}-sealed"}
immutable: true
stringData:
  run.sh: |-
    echo one
---
apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}-once", annotations: {app.example.com/rerun-on-change: "true"}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: app
        image: {{ .Values.image }}
        args:
        - |-
          echo one
---
apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}-plain"}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: app
        image: {{ .Values.image }}
        args:
        - |-
          echo one
`

// An operator that reads the line end after a document writes it wherever that is possible: no Job runs again, and
// nothing is refused.
func TestALineEndIsReleasedWhereItCanBe(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	templates := filepath.Join(dir, "helm-charts/appjob/templates")
	require.NoError(t, os.RemoveAll(templates))
	files.Write(t, filepath.Join(templates, "all.yaml"), endsOfDocuments)
	serve := func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir }
	first := cluster.Manager(t, namespace, serve)
	resource := appJob(namespace, map[string]any{"image": "busybox"})
	cluster.Create(t, resource)
	becomesReady(t, resource)
	before, err := jobs(t, namespace)
	require.NoError(t, err)
	require.Len(t, before, 2)
	first.Stop(t)

	files.Write(t, filepath.Join(templates, "all.yaml"), strings.ReplaceAll(endsOfDocuments, "|-\n", "|\n"))
	cluster.Manager(t, namespace, serve)
	open := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "report-open"}}
	harness.Eventually(t, "what can change has the line end", func() error {
		cluster.Refresh(t, open)
		return want("the text", open.Data["run.sh"], "echo one\n")
	})
	harness.Eventually(t, "the release is recorded", func() error {
		cluster.Refresh(t, resource)
		revision, _, _ := unstructured.NestedInt64(resource.Object, "status", "release", "revision")
		return want("the revision", revision, 2)
	})
	becomesReady(t, resource)
	sealed, secret, key := &corev1.ConfigMap{}, &corev1.Secret{}, client.ObjectKey{Namespace: namespace, Name: "report-sealed"}
	cluster.Get(t, key, sealed)
	cluster.Get(t, key, secret)
	require.Equal(t, "echo one", sealed.Data["run.sh"])
	require.Equal(t, "echo one", string(secret.Data["run.sh"]))
	after, err := jobs(t, namespace)
	require.NoError(t, err)
	require.Equal(t, before, after, "no Job runs again")
}
