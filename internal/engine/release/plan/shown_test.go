package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestShownTextsAreThoseOfEvents(t *testing.T) {
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(`
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  creationTimestamp: "2026-01-02T03:04:05Z"
  labels: {app: web}
  annotations: {note: hunter2}
  managedFields: [{manager: x}]
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.27
        args: ["--password=hunter2"]
        env: [{name: PASSWORD, value: hunter2}]
status: {readyReplicas: 2}
`), &object.Object))
	text, err := yaml.Marshal(Shown(object))
	require.NoError(t, err)
	assert.Equal(t, strings.TrimLeft(`
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    note: (7 characters)
  creationTimestamp: "2026-01-02T03:04:05Z"
  labels:
    app: web
  name: web
  namespace: shop
spec:
  replicas: 2
  template:
    spec:
      containers:
      - args:
        - (18 characters)
        env:
        - name: (8 characters)
          value: (7 characters)
        image: nginx:1.27
        name: (3 characters)
status:
  readyReplicas: 2
`, "\n"), string(text))
}

func TestNothingOfAPayloadIsShown(t *testing.T) {
	for kind, content := range map[string]string{
		"Secret":    `{data: {password: aHVudGVyMg==}, stringData: {a: hunter2}, immutable: true}`,
		"ConfigMap": `{data: {password: hunter2}, binaryData: {b: aHVudGVyMg==}}`,
	} {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(content), &object.Object))
		object.SetAPIVersion("v1")
		object.SetKind(kind)
		object.SetName("x")
		text := fmt.Sprint(Shown(object))
		assert.NotContains(t, text, "hunter2")
		assert.NotContains(t, text, "aHVudGVyMg")
		assert.Contains(t, text, "password", "keys are shown")
		assert.Contains(t, text, "name:x")
	}
}
