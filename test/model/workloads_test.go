package model

import (
	"fmt"
	"reflect"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube"
)

var (
	keyDeployment  = kube.Key{GroupKind: deployment.GroupKind(), Name: name}
	keyStatefulSet = kube.Key{GroupKind: statefulSet.GroupKind(), Name: name}
)

// scaled is a Deployment, autoscaled or not.
var scaled = &shape{
	kind:  appService,
	chart: chartOf("scaled", scaledTemplate),
	specs: []map[string]any{
		{"image": "one", "autoscaling": map[string]any{"minReplicas": int64(2), "maxReplicas": int64(9)}},
		{"image": "two", "autoscaling": map[string]any{"minReplicas": int64(2), "maxReplicas": int64(9)}},
		{"image": "one", "size": int64(3)},
	},
	renders: []schema.GroupVersionKind{deployment},
	changes: append(workloadChanges(keyDeployment), scales(5), scales(1)),
	writes:  2,
	allowed: keepsReplicas,
}

const scaledTemplate = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  {{- if .Values.autoscaling }}
  annotations: {app.example.com/initial-replicas: {{ .Values.autoscaling.minReplicas | quote }}}
  {{- end }}
spec:
  {{- if not .Values.autoscaling }}
  replicas: {{ .Values.size }}
  {{- end }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: {{ .Values.image }}}]}
`

// stateful is a StatefulSet whose volumes grow.
var stateful = &shape{
	kind:  appService,
	chart: chartOf("stateful", statefulTemplate),
	specs: []map[string]any{
		{"image": "one", "size": int64(1), "persistence": map[string]any{"size": "1Gi"}},
		{"image": "two", "size": int64(2), "persistence": map[string]any{"size": "2Gi"}},
		{"image": "one", "size": int64(2), "persistence": map[string]any{"size": "1Gi"}},
	},
	renders: []schema.GroupVersionKind{statefulSet, claim},
	changes: workloadChanges(keyStatefulSet),
	writes:  2,
	allowed: keepsClaims,
}

const statefulTemplate = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: {{ .Values.size }}
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: {{ .Values.image }}}]}
  volumeClaimTemplates:
  - metadata: {name: data, labels: {app: web}}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: {{ .Values.persistence.size }}}}
`

func chartOf(name, template string) *chart.Chart {
	return &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: "v2", Name: name, Version: "0.1.0"},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(template)}},
	}
}

// workloadChanges are what others do to a workload.
func workloadChanges(key kube.Key) []act {
	edits := []struct {
		verb string
		edit func(*unstructured.Unstructured)
	}{
		{"takes off the owner of", func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) }},
		{"takes off the labels of", func(o *unstructured.Unstructured) { o.SetLabels(nil) }},
		{"takes off the stamp of", func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }},
	}
	var list []act
	for _, e := range edits {
		list = append(list, changeOf("somebody "+e.verb+" the workload", key, func(w *world) { w.server.edit(key, e.edit) }))
	}
	return append(list,
		changeOf("somebody deletes the workload", key, func(w *world) { w.server.remove(key) }),
		changeOf("kubectl delete --cascade=orphan, and the resource is made again", resourceKey, func(w *world) {
			if w.server.objects[key] != nil {
				w.server.edit(key, func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
			}
			w.makeAgain()
		}),
		madeAgain(resourceKey), statusOverwritten(resourceKey), recordDeleted())
}

func scales(replicas int64) act {
	return changeOf(fmt.Sprintf("the autoscaler scales to %d", replicas), keyDeployment, func(w *world) {
		w.server.edit(keyDeployment, func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, replicas, "spec", "replicas")
		})
	})
}

// keepsReplicas returns an error if the operator changes the number of replicas of a Deployment that is autoscaled, as far as it knows.
func keepsReplicas(w *world, key kube.Key, before *unstructured.Unstructured) error {
	now := w.server.objects[key]
	if before == nil || now == nil || !autoscaled(w.resource()) || !autoscaled(w.seen()) {
		return nil
	}
	was, _, _ := unstructured.NestedInt64(before.Object, "spec", "replicas")
	if is, _, _ := unstructured.NestedInt64(now.Object, "spec", "replicas"); is != was {
		return fmt.Errorf("it sets the replicas of an autoscaled workload from %d to %d", was, is)
	}
	return nil
}

// seen returns the resource as the process that writes sees it.
func (w *world) seen() *unstructured.Unstructured {
	if w.former != nil && w.server.by == w.former.dead {
		return w.former.store[w.shape.key()]
	}
	return w.process.store[w.shape.key()]
}

func autoscaled(resource *unstructured.Unstructured) bool {
	if resource == nil {
		return false
	}
	_, found, _ := unstructured.NestedMap(resource.Object, "spec", "autoscaling")
	return found
}

// keepsClaims returns an error if the operator changes claim templates, or makes a claim smaller, or deletes one.
func keepsClaims(w *world, key kube.Key, before *unstructured.Unstructured) error {
	now := w.server.objects[key]
	switch {
	case before == nil:
		return nil
	case key.Kind == claim.Kind && now == nil:
		return fmt.Errorf("it deletes a claim")
	case now == nil:
		return nil
	}
	was, _, _ := unstructured.NestedSlice(before.Object, "spec", "volumeClaimTemplates")
	is, _, _ := unstructured.NestedSlice(now.Object, "spec", "volumeClaimTemplates")
	if !reflect.DeepEqual(was, is) {
		return fmt.Errorf("it changes the claim templates from %v to %v", was, is)
	}
	if sizeOf(now) < sizeOf(before) {
		return fmt.Errorf("it makes a claim smaller")
	}
	return nil
}

// sizeOf returns the size of a claim. Those of the model have one digit.
func sizeOf(claim *unstructured.Unstructured) string {
	size, _, _ := unstructured.NestedString(claim.Object, "spec", "resources", "requests", "storage")
	return size
}
