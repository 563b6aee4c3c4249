package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// Difference is a field in which two renderings of an object differ.
type Difference struct {
	// Field is its path, for example spec.replicas.
	Field string `json:"field"`
	// Old and New are its values; empty if they must not be printed.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Restarts reports whether the difference restarts pods.
	Restarts bool `json:"restartsPods,omitempty"`

	harmless bool // Old and New are harmless
}

// Redacted returns the difference for others than those who may read the objects: without its values unless these are
// harmless.
func (d Difference) Redacted() Difference {
	if !d.harmless {
		d.Old, d.New = "", ""
	}
	return d
}

// String returns the difference, for example "spec.template.spec.nodeName a → b; restarts pods".
func (d Difference) String() string {
	text := d.Field
	if d.Old != "" || d.New != "" {
		text = fmt.Sprintf("%s %s → %s", d.Field, d.Old, d.New)
	}
	if d.Restarts {
		text += "; restarts pods"
	}
	return text
}

// Differences lists all fields in which two renderings of one object differ, except for stamps. Unlike the comparison
// with live objects, it ignores no fields of others: both renderings are ours as a whole.
func Differences(old, rendered *unstructured.Unstructured) []Difference {
	var list []Difference
	template := strings.Join(TemplateOfRunning(rendered), ".")
	eachDifference("", withoutStamp(old), withoutStamp(rendered), func(path string, before, after any) {
		d := Difference{Field: strings.TrimPrefix(path, ".")}
		d.Restarts = template != "" && (d.Field == template || strings.HasPrefix(d.Field, template+"."))
		if !secretive(rendered, d.Field) || !scalar(before) && !scalar(after) {
			d.Old, d.New = brief(before), brief(after)
		}
		d.harmless = mayBeShown(rendered, d.Field, before, after)
		list = append(list, d)
	})
	return list
}

func withoutStamp(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	annotations := object.GetAnnotations()
	delete(annotations, postrender.AnnotationStamp)
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
	return object.Object
}

// eachDifference calls found for everything that only one side has, and for each value that differs.
func eachDifference(path string, old, rendered any, found func(path string, old, rendered any)) {
	switch before := old.(type) {
	case map[string]any:
		if after, ok := rendered.(map[string]any); ok {
			all := maps.Clone(before)
			maps.Copy(all, after)
			for _, key := range sortedKeys(all) {
				eachDifference(path+"."+key, before[key], after[key], found)
			}
			return
		}
	case []any:
		if after, ok := rendered.([]any); ok {
			eachItem(path, before, after, found)
			return
		}
	}
	if !equalScalars(old, rendered) {
		found(path, old, rendered)
	}
}

func eachItem(path string, old, rendered []any, found func(path string, old, rendered any)) {
	keys := keysFor(path)
	if keys == nil || !allMaps(old) || !allMaps(rendered) {
		if len(old) != len(rendered) {
			found(path, old, rendered)
			return
		}
		for i := range old {
			eachDifference(fmt.Sprintf("%s[%d]", path, i), old[i], rendered[i], found)
		}
		return
	}
	for _, item := range old {
		content, _ := item.(map[string]any)
		eachDifference(fmt.Sprintf("%s[%v]", path, content[keys[0]]), item, find(rendered, content, keys), found)
	}
	for _, item := range rendered {
		content, _ := item.(map[string]any)
		if find(old, content, keys) == nil {
			found(fmt.Sprintf("%s[%v]", path, content[keys[0]]), nil, item)
		}
	}
	if before, after := order(old, rendered, keys), order(rendered, old, keys); !reflect.DeepEqual(before, after) {
		found(path+" (order)", strings.Join(before, ", "), strings.Join(after, ", "))
	}
}

// order lists, by key, the items of a list that another list has, too.
func order(items, others []any, keys []string) []string {
	var list []string
	for _, item := range items {
		content, _ := item.(map[string]any)
		if find(others, content, keys) != nil {
			list = append(list, fmt.Sprint(content[keys[0]]))
		}
	}
	return list
}

// TemplateOfRunning returns the path of the pod template whose changes restart pods; nil if there is none. The pods of
// a CronJob end by themselves.
func TemplateOfRunning(object client.Object) []string {
	if path := kube.TraitsOf(kube.KeyOf(object).GroupKind).PodTemplate; slices.Equal(path, []string{"spec", "template"}) {
		return path
	}
	return nil
}

// RestartsPods reports whether replacing one rendering by another ends pods: their template differs, or the workload is
// no longer rendered.
func RestartsPods(old, rendered []*unstructured.Unstructured) bool {
	for _, before := range old {
		path := TemplateOfRunning(before)
		if path == nil {
			continue
		}
		at := slices.IndexFunc(rendered,
			func(after *unstructured.Unstructured) bool { return kube.KeyOf(after) == kube.KeyOf(before) })
		if at < 0 {
			return true
		}
		had, _, _ := unstructured.NestedFieldNoCopy(before.Object, path...)
		has, _, _ := unstructured.NestedFieldNoCopy(rendered[at].Object, path...)
		if !reflect.DeepEqual(had, has) {
			return true
		}
	}
	return false
}
