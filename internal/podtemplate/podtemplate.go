// Package podtemplate lays spec.podTemplate over the pod templates that a chart rendered: a strategic merge patch for what no field of the
// spec says. It owns what such a patch may hold, and refuses the rest by its field before anything is rendered.
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
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/typed"
)

// MaxSize is how many bytes a patch may take as JSON: it is in each release record, and merging takes time.
const MaxSize = 32 << 10

// mainContainer is the container that workloads have which the patch is for.
const mainContainer = "app"

// maxShown is how many bytes the list of the fields that a patch sets may take in an annotation.
const maxShown = 1 << 10

var field = []any{"spec", "podTemplate"}

// Error says what a patch may not hold.
type Error struct{ typed.Misfits }

func (e *Error) Error() string { return strings.Join(strings.Fields(e.Misfits.Error()), " ") }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Misfits }

// Hint says what to do.
func (e *Error) Hint() string {
	return "change or remove what the message names; `kubectl explain pod.spec` describes the fields that spec.podTemplate.spec takes"
}

func refused(path []any, message string, args ...any) error {
	return &Error{typed.Misfits{{Path: path, Message: fmt.Sprintf(message, args...)}}}
}

// Patch is a patch that was found to be sound. A nil one changes nothing.
type Patch struct {
	content map[string]any
	sets    []string
}

// Of returns the patch of a resource, of whose spec the values were made; nil if there is none. Of other kinds than AppService, the field
// belongs to the chart. The error is an Error.
func Of(resource *unstructured.Unstructured, values map[string]any) (*Patch, error) {
	value, there := values["podTemplate"]
	if !there || resource.GroupVersionKind() != v1.GroupVersion.WithKind(v1.Kind) {
		return nil, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, refused(field, "it is no JSON")
	}
	if len(data) > MaxSize {
		return nil, refused(field, "it takes %d bytes as JSON, and may take %d", len(data), MaxSize)
	}
	patch := &Patch{}
	if err := utiljson.Unmarshal(data, &patch.content); err != nil { // numbers are whole again
		return nil, refused(field, "it must be a map")
	}
	if patch.sets, err = check(patch.content); err != nil || len(patch.content) == 0 {
		return nil, err
	}
	return patch, nil
}

// Apply lays the patch over the pods of those objects that have the main container, and annotates these with the fields that it sets. The
// error is an Error if there are none. What is wrong with a template already is left to others.
func (p *Patch) Apply(objects []*unstructured.Unstructured) error {
	if p == nil {
		return nil
	}
	applied := false
	for _, object := range objects {
		template := dependency.PodTemplate(object)
		if template == nil || len(typed.CheckAs(template, podTemplateType, nil)) > 0 || mainOf(containersOf(template)) < 0 {
			continue
		}
		// It writes to both. Only a list entry without its name may fail, which the error of the library shows with its values.
		if _, err := strategicpatch.StrategicMergeMapPatch(template, runtime.DeepCopyJSON(p.content), corev1.PodTemplateSpec{}); err != nil {
			return fmt.Errorf("the pod template of %s %q cannot be merged with spec.podTemplate: an entry of a list has no name", object.GetKind(), object.GetName())
		}
		mainFirst(containersOf(template))
		if err := unstructured.SetNestedField(object.Object, p.shown(), "metadata", "annotations", v1.AnnotationPatched); err != nil {
			return errors.New("metadata.annotations is no map")
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

// mainFirst puts the main container first, and leaves the others in their order: the first one is what kubectl logs shows and whose image a
// status has. Merging puts those of the patch before all others.
func mainFirst(containers []any) {
	at := mainOf(containers)
	first := containers[at]
	copy(containers[1:at+1], containers[:at])
	containers[0] = first
}

// shown lists the fields that the patch sets, as far as an annotation has room.
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
