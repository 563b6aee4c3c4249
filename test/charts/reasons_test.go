package charts

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
)

// reason is why the operator renders something otherwise than Helm.
type reason struct {
	name   string
	covers func(difference) bool
}

// reasons are all that a difference may have; the first that covers it counts. A difference without one is a defect.
var reasons = []reason{
	{"test of the chart", func(d difference) bool { return d.test && missing(d) }},
	{"CustomResourceDefinition left out", func(d difference) bool {
		return d.object.Kind == "CustomResourceDefinition" && missing(d)
	}},
	{randomOrder, func(d difference) bool { return d.random && len(d.path) > 0 && permuted(d.helm, d.ours) }},
	{"Job runs once: a digest in its name", func(d difference) bool {
		return d.object.Kind == "Job" && slices.Equal(d.path, []string{"metadata", "name"})
	}},
	{"default of the API server: the pull policy of an image", func(d difference) bool {
		return len(d.path) > 0 && d.path[len(d.path)-1] == "imagePullPolicy" && d.helm == nothing{} &&
			slices.Contains([]any{"Always", "IfNotPresent"}, d.ours)
	}},
	{"null removed: it means what is left out", func(d difference) bool { return d.helm == nil && d.ours == nothing{} }},
}

// ground is why the operator refuses what Helm renders.
type ground struct {
	name   string
	covers func(error) bool
}

// grounds are all that a refusal may have. A refusal without one is a defect: Helm renders these values.
var grounds = []ground{
	{"random value in an object", is[*render.UnstableError]},
	{"hook", is[*render.HookError]},
	{"another namespace", is[*render.NamespaceError]},
	{"kind or right that its entry does not allow", is[*postrender.NotGrantedError]},
	{inSpec, func(err error) bool {
		return is[*render.InvalidSpecError](err) && strings.Contains(err.Error(), "would execute {{")
	}},
	{"reserved label or annotation in the spec", is[*postrender.ReservedError]},
	{"too large", is[*limits.Error]},
}

// inSpec is the ground of a refusal that the entry can lift by templatesInSpec.
const inSpec = "template in the spec"

func is[T error](err error) bool {
	_, found := errors.AsType[T](err)
	return found
}

// onWhatGround returns the name of the ground of a refusal; empty if there is none.
func onWhatGround(refused error) string {
	for _, ground := range grounds {
		if ground.covers(refused) {
			return ground.name
		}
	}
	return ""
}

// randomOrder is the reason of a difference where Helm writes the keys of a map in another order each time. Any other
// random value that is rendered, and not refused, would be the same one for everybody.
const randomOrder = "random order of keys"

// permuted reports whether two texts, or lists, consist of the same characters, or items, in any order.
func permuted(a, b any) bool {
	list := func(value any) []string {
		var parts []string
		switch value := value.(type) {
		case string:
			parts = strings.Split(value, "")
		case []any:
			for _, item := range value {
				parts = append(parts, fmt.Sprint(item))
			}
		}
		slices.Sort(parts)
		return parts
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && list(a) != nil && slices.Equal(list(a), list(b))
}

// why returns the name of the reason for a difference; empty if there is none.
func why(d difference) string {
	for _, reason := range reasons {
		if reason.covers(d) {
			return reason.name
		}
	}
	return ""
}

func missing(d difference) bool { return len(d.path) == 0 && d.ours == nothing{} }

// withoutMarks removes what the operator adds to each object, and to the templates of claims, to know it again: labels
// and annotations of its own, and its owner.
func withoutMarks(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetOwnerReferences(nil)
	unmark(object.Object)
	return object
}

func unmark(value any) {
	switch value := value.(type) {
	case []any:
		for _, child := range value {
			unmark(child)
		}
	case map[string]any:
		metadata, _ := value["metadata"].(map[string]any)
		for _, field := range []string{"labels", "annotations"} {
			entries, _ := metadata[field].(map[string]any)
			maps.DeleteFunc(entries, func(name string, _ any) bool { return strings.HasPrefix(name, v1.GroupVersion.Group+"/") })
			if entries != nil && len(entries) == 0 {
				delete(metadata, field)
			}
		}
		for _, child := range value {
			unmark(child)
		}
	}
}
