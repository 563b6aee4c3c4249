package postrender

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

const migration = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {app.example.com/stage: before}}
spec:
  template:
    spec:
      serviceAccountName: shop
      imagePullSecrets: [{name: registry}]
      containers:
      - name: migrate
        image: shop
        envFrom: [{configMapRef: {name: copy}}, {secretRef: {name: mail}}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: shop}}]
`

// Objects that the stage before refers to are created with it, unless they belong to that stage. Nothing else is marked, not even what only has
// the name of such an object.
func TestWhatTheStageBeforeNeedsIsMarked(t *testing.T) {
	named := func(kind, name, stage string) *unstructured.Unstructured {
		object := parse(t, "{apiVersion: v1, kind: "+kind+", metadata: {name: "+name+", annotations: {note: mine}}}")
		if stage != "" {
			object.SetAnnotations(map[string]string{"note": "mine", v1.AnnotationStage: stage})
		}
		return object
	}
	objects := []*unstructured.Unstructured{
		named("ServiceAccount", "shop", ""), named("Secret", "mail", ""), named("PersistentVolumeClaim", "shop", "main"),
		named("Secret", "registry", "after"), named("ConfigMap", "copy", "before"), named("ConfigMap", "shop", ""), named("Service", "shop", ""),
		parse(t, migration),
	}
	require.NoError(t, Stages(t.Context(), &Input{}, objects))
	got := map[string]string{}
	for _, object := range objects {
		got[kube.KeyOf(object).String()] = object.GetAnnotations()[v1.AnnotationStage]
		assert.True(t, object.GetKind() == "Job" || object.GetAnnotations()["note"] == "mine", "%s lost an annotation", object.GetName())
	}
	assert.Equal(t, map[string]string{
		"ServiceAccount shop": "early", "Secret mail": "early", "PersistentVolumeClaim shop": "early", "Secret registry": "early",
		"ConfigMap copy": "before", "ConfigMap shop": "", "Service shop": "", "Job migrate": "before",
	}, got)
}

func TestWithoutAStageBeforeNothingIsMarked(t *testing.T) {
	job := parse(t, strings.Replace(migration, "stage: before", "stage: after", 1))
	account := parse(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: shop}}")
	require.NoError(t, Stages(t.Context(), &Input{}, []*unstructured.Unstructured{account, job}))
	assert.Empty(t, account.GetAnnotations())
	assert.Equal(t, "after", job.GetAnnotations()[v1.AnnotationStage])
}

func TestAnObjectOfNoStageIsRefused(t *testing.T) {
	job := parse(t, strings.Replace(migration, "stage: before", "stage: first", 1))
	err := Stages(t.Context(), &Input{}, []*unstructured.Unstructured{parse(t, deployment), job})
	require.Error(t, err)
	assert.Contains(t, err.Error(), `Job "migrate"`)
	assert.Contains(t, err.Error(), `"first", which is no stage: write before, main or after`)
}
