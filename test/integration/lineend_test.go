//go:build cluster

package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// endsOfDocuments is a template whose documents end with texts.
const endsOfDocuments = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-open"}
data:
  image: {{ .Values.image }}
  run.sh: |
    echo one
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-sealed"}
immutable: true
data:
  run.sh: |
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
        image: busybox
        args:
        - |
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
        image: busybox
        args:
        - |
          echo one
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: {{ .Release.Name | quote }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name | quote }}}}
    spec:
      containers:
      - name: app
        image: busybox
        args:
        - |
          echo one
`

// endsOfTexts is the row of the mixed fleet with such a chart; its next release has the line ends where they can change.
func endsOfTexts(t *testing.T, before *former) {
	before.dir = files.Charts(t)
	templates := filepath.Join(before.dir, "helm-charts/appjob/templates")
	require.NoError(t, os.RemoveAll(templates))
	files.Write(t, filepath.Join(templates, "all.yaml"), endsOfDocuments)
	before.start(t)
	resource := appJob(before.namespace, map[string]any{"image": "busybox"})
	cluster.Create(t, resource)
	becomesReady(t, resource)
}

// endsOfTextsAreReleased changes the spec of that resource after the upgrade.
func endsOfTextsAreReleased(t *testing.T, namespace string) {
	resource := appJob(namespace, nil)
	require.NoError(t, present(t, resource))
	before, err := jobs(t, namespace)
	require.NoError(t, err)
	patched := resource.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(patched.Object, "busybox:2", "spec", "image"))
	cluster.Patch(t, patched, client.MergeFrom(resource))
	open, sealed := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	harness.Eventually(t, "the next release has the line end", func() error {
		cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "report-open"}, open)
		return want("the text", open.Data["run.sh"], "echo one\n")
	})
	becomesReady(t, patched)
	cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "report-sealed"}, sealed)
	require.Equal(t, "echo one", sealed.Data["run.sh"])
	after, err := jobs(t, namespace)
	require.NoError(t, err)
	require.Equal(t, before, after, "a Job runs again")
}
