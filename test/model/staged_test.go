package model

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// staged is a Job of the stage before, and a ConfigMap that is written once that has run.
var staged = stagedShape()

const (
	taskTemplate = `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}
  annotations: {app.example.com/stage: before, app.example.com/rerun-on-change: image}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: task, image: {{ .Values.image | quote }}}]
`
	servesTemplate = `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {image: {{ .Values.image | quote }}}
`
)

func stagedShape() *shape {
	s := *onceShape()
	s.chart.Templates = []*chart.File{
		{Name: "templates/task.yaml", Data: []byte(taskTemplate)}, {Name: "templates/serves.yaml", Data: []byte(servesTemplate)},
	}
	s.specs = []map[string]any{{"image": "one"}, {"image": "two"}}
	s.renders = []schema.GroupVersionKind{batchJob, configMap}
	s.changes = []act{
		{"pods end", s.changes[0].may, s.changes[0].do},
		onJob("somebody deletes the Job", func(w *world, key kube.Key) { w.server.remove(key) }),
		madeAgain(keyJob), recordDeleted(),
	}
	s.allowed, s.waits, s.halts = taskFirst, nil, taskUnknown
	return &s
}

// taskUnknown returns the reason for which a release does not continue: nobody knows how its task ended.
func taskUnknown(w *world) string {
	if hasNotRun(w) {
		return v1.ReasonRunUnknown
	}
	return ""
}

// taskFirst returns an error if what serves is written before the task of its image has run, or if the task starts once more than it may.
func taskFirst(w *world, key kube.Key, before *unstructured.Unstructured) error {
	object := w.server.objects[key]
	if key.Kind != configMap.Kind || object == nil {
		return startsOnce(w, key, before)
	}
	image, _, _ := unstructured.NestedString(object.Object, "data", "image")
	run := fmt.Sprint(ownerOf(object), " ", image, " ")
	if w.runs.started[run] == 0 || w.server.runs() {
		return fmt.Errorf("what serves image %s is written before its task has run", image)
	}
	return nil
}
