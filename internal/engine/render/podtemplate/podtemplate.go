// Package podtemplate lays spec.podTemplate over the pod templates that a chart rendered: a strategic merge patch for
// fields that the spec does not have. It owns what such a patch may contain, and refuses anything else, naming the
// field, before anything is rendered.
package podtemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/render/typecheck"
	"github.com/example/appservice-operator/internal/engine/text"
)

// MaxSize is the maximum size of a patch as JSON in bytes: it is in each release record, and merging takes time.
const MaxSize = 32 << 10

// mainContainer is the container of the workloads to which the patch applies.
const mainContainer = "app"

// maxShown is the maximum size in bytes of the list of patched fields in an annotation.
const maxShown = 1 << 10

var field = []any{"spec", "podTemplate"}

// Error reports what a patch may not contain.
type Error struct{ typecheck.Misfits }

func (e *Error) Error() string { return text.Line(e.Misfits.Error()) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Misfits }

// Hint returns what to do.
func (e *Error) Hint() string {
	return "change or remove the field named in the message; `kubectl explain pod.spec` describes the fields that spec.podTemplate.spec takes"
}

func refused(path []any, message string, args ...any) error {
	return &Error{typecheck.Misfits{{Path: path, Message: fmt.Sprintf(message, args...)}}}
}

// Patch is a valid patch. A nil one changes nothing.
type Patch struct {
	content map[string]any
	sets    []string
}

// Of returns the patch of a resource, whose values were made from the same spec; nil if there is none. For kinds other
// than AppService, the field belongs to the chart. The error is an Error.
func Of(resource *unstructured.Unstructured, values map[string]any) (*Patch, error) {
	value, there := values["podTemplate"]
	if !there || !kube.IsAppService(resource.GroupVersionKind()) {
		return nil, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, refused(field, "not JSON")
	}
	if len(data) > MaxSize {
		return nil, refused(field, "takes %d bytes as JSON, at most %d are allowed", len(data), MaxSize)
	}
	patch := &Patch{}
	if err := utiljson.Unmarshal(data, &patch.content); err != nil { // numbers are whole again
		return nil, refused(field, "must be a map")
	}
	if patch.sets, err = check(patch.content); err != nil || len(patch.content) == 0 {
		return nil, err
	}
	return patch, nil
}

// Apply lays the patch over the pods of the objects that have the main container, and annotates them with the patched
// fields. The error is an Error if there are none. Templates that are already invalid are left to other checks.
func (p *Patch) Apply(objects []*unstructured.Unstructured) error {
	if p == nil {
		return nil
	}
	applied := false
	for _, object := range objects {
		template := reference.PodTemplate(object)
		if template == nil || len(typecheck.CheckAs(template, podTemplateType, nil)) > 0 ||
			mainOf(containersOf(template)) < 0 {
			continue
		}
		// It writes to both. It can fail only for a list entry without its name, and then the library's error contains
		// values.
		if _, err := strategicpatch.StrategicMergeMapPatch(template, runtime.DeepCopyJSON(p.content),
			corev1.PodTemplateSpec{}); err != nil {
			return fmt.Errorf("the pod template of %s %q cannot be merged with spec.podTemplate: an entry of a list has no name",
				object.GetKind(), object.GetName())
		}
		mainFirst(containersOf(template))
		if err := unstructured.SetNestedField(object.Object, p.shown(), "metadata", "annotations",
			v1.AnnotationPatched); err != nil {
			return errors.New("metadata.annotations is not a map")
		}
		applied = true
	}
	if !applied {
		return refused(field, "the chart renders no pods with the container %s, for which it is", mainContainer)
	}
	return nil
}

func containersOf(template map[string]any) []any {
	spec, _ := template["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	return containers
}

// mainOf returns the index of the main container; -1 if there is none.
func mainOf(containers []any) int {
	return slices.IndexFunc(containers, func(item any) bool {
		container, isMap := item.(map[string]any)
		return isMap && container["name"] == mainContainer
	})
}

// mainFirst moves the main container to the front, and leaves the others in their order: the first one is what kubectl
// logs shows and whose image is in the status. Merging puts those of the patch before all others.
func mainFirst(containers []any) {
	at := mainOf(containers)
	first := containers[at]
	copy(containers[1:at+1], containers[:at])
	containers[0] = first
}

// shown lists the fields that the patch sets, as far as they fit into an annotation.
func (p *Patch) shown() string {
	var out strings.Builder
	for i, path := range p.sets {
		if out.Len()+len(path) > maxShown {
			fmt.Fprintf(&out, " and %d more", len(p.sets)-i)
			break
		}
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(path)
	}
	return out.String()
}

var podTemplateType = reflect.TypeFor[corev1.PodTemplateSpec]()
