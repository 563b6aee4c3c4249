package model

import (
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// shape is what a resource renders, and what others do to that.
type shape struct {
	// kind of the resource.
	kind  schema.GroupVersionKind
	chart *chart.Chart
	// specs that the resource may have.
	specs []map[string]any
	// renders are the kinds that the chart renders, and those that their controllers make.
	renders []schema.GroupVersionKind
	// changes are what others do besides changing the spec.
	changes []act
	// writes is how many writes of a reconcile go wrong, one at a time.
	writes int
	// allowed returns what is wrong with a write of the operator other than a status or a record; nil for the rules of ConfigMaps.
	allowed func(w *world, key kube.Key, before *unstructured.Unstructured) error
	// waits reports whether the resource is not ready once the world has come to rest; nil for never.
	waits func(w *world) bool
	// halts returns the reason for which the rest of a release is not written, such as that its stage before has not succeeded; empty if it is. Nil
	// for never.
	halts func(w *world) string
	// goesBack returns whether the resource has returned to an earlier release once the world has come to rest, and what is wrong with that; nil for
	// never.
	goesBack func(w *world) (bool, error)
	// ended returns what is wrong once the world has come to rest; nil for nothing more than that all objects are as rendered.
	ended func(w *world) error
}

func (s *shape) key() kube.Key { return kube.Key{GroupKind: s.kind.GroupKind(), Name: name} }

// kinds that informers show.
func (s *shape) kinds() []string {
	list := []string{s.kind.Kind}
	for _, kind := range s.observed() {
		list = append(list, kind.Kind)
	}
	return list
}

// observed are the kinds of objects that informers show.
func (s *shape) observed() []schema.GroupVersionKind {
	list := []schema.GroupVersionKind{kube.SecretKind}
	for _, kind := range s.renders {
		if kind != kube.SecretKind {
			list = append(list, kind)
		}
	}
	return list
}

// rendersKind reports whether a kind is one that the chart renders.
func (s *shape) rendersKind(kind schema.GroupKind) bool {
	return slices.ContainsFunc(s.renders, func(known schema.GroupVersionKind) bool { return known.GroupKind() == kind })
}

// specChanges are the changes of the spec.
func (s *shape) specChanges() []act {
	var list []act
	for i := range s.specs {
		list = append(list, changeOf(fmt.Sprintf("the spec becomes %v", s.specs[i]), s.key(), func(w *world) { w.become(i) }))
	}
	return list
}

// become writes one of its specs to the resource.
func (w *world) become(spec int) {
	w.server.edit(w.shape.key(), func(o *unstructured.Unstructured) {
		o.Object["spec"] = runtime.DeepCopyJSON(w.shape.specs[spec])
		o.SetGeneration(o.GetGeneration() + 1)
	})
	w.runs.ask(w.resource())
}

// pair is one ConfigMap, or two.
var pair = &shape{
	kind:  appService,
	chart: tiny,
	specs: []map[string]any{
		{"image": "one", "size": int64(1)},
		{"image": "two", "size": int64(2)},
		{"image": "refused", "size": int64(1)},
	},
	renders: []schema.GroupVersionKind{configMap},
	changes: pairChanges(),
	writes:  3,
}

// tiny renders one object, or two for a size above 1, and refuses an image.
var tiny = &chart.Chart{
	Metadata: &chart.Metadata{APIVersion: "v2", Name: "tiny", Version: "0.1.0"},
	Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(`
{{- if eq .Values.image "refused" }}{{ fail "this image is refused" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {image: {{ .Values.image | quote }}}
{{- if gt (int .Values.size) 1 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {size: {{ .Values.size | quote }}}
{{- end }}
`)}},
}
