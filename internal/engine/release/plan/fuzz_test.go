package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
)

// FuzzCompare changes a rendered object in the ways that edits tell, one byte at a time, and takes what comes of it as the live
// one. Compare must find a difference wherever an apply would make one, and none after the apply.
func FuzzCompare(f *testing.F) {
	all := caseObjects(f)
	for _, object := range all {
		if initial, yes := Autoscaled(object); yes { // as it is once its replicas have changed hands
			annotations := object.GetAnnotations()
			annotations[v1.AnnotationStartedWith] = fmt.Sprint(initial)
			object.SetAnnotations(annotations)
		}
		annotations := object.GetAnnotations()
		delete(annotations, v1.AnnotationGenerate) // who fills a Secret is another manager: generated_test.go
		object.SetAnnotations(annotations)
	}
	for i := range all {
		f.Add(uint16(i), []byte{})
		f.Add(uint16(i), []byte{byte(i), 0, byte(3 * i), 1, byte(5 * i), 2})
		f.Add(uint16(i), []byte{byte(7 * i), 3, byte(11 * i), 4})
	}
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	f.Fuzz(func(t *testing.T, which uint16, edits []byte) {
		desired := all[int(which)%len(all)]
		live := desired.DeepCopy()
		if initial := live.GetAnnotations()[v1.AnnotationInitialReplicas]; initial != "" { // what it started with is noted, too
			require.NoError(t, unstructured.SetNestedField(live.Object, initial, "metadata", "annotations", v1.AnnotationStartedWith))
		}
		if plan := Compare([]*unstructured.Unstructured{desired}, there(live)); !plan.Empty() {
			t.Fatalf("it differs from itself: %s", plan)
		}
		mutate(live, edits)
		live, err := stored(live)
		if err != nil {
			return // the API server would not have taken that
		}
		typedLive, err := converter.ObjectToTyped(live)
		if err != nil {
			return // the API server would not have taken that
		}
		sent := AsFarAsMutable(desired, live) // claim templates never change, not even their order
		typedDesired, err := converter.ObjectToTyped(sent)
		require.NoError(t, err)
		merged, err := typedLive.Merge(typedDesired)
		require.NoError(t, err)
		difference, err := typedLive.Compare(merged)
		require.NoError(t, err)
		if plan := Compare([]*unstructured.Unstructured{desired}, there(live)); plan.Empty() && !difference.IsSame() {
			t.Errorf("an apply would change what Compare does not see: %s", difference)
		}
		content, ok := merged.AsValue().Unstructured().(map[string]any)
		if !ok {
			t.Fatalf("what is merged is not an object: %v", merged)
		}
		applied := &unstructured.Unstructured{Object: content}
		plan := Compare([]*unstructured.Unstructured{desired}, there(applied))
		if first := lacking("", sent.Object, applied.Object); first != nil || !plan.Empty() && !plan.Apply[0].Added {
			t.Errorf("after the apply, Compare still finds a difference: %s", plan)
		}
	})
}

// caseObjects are the objects of the golden cases, of the kinds that the API server's types know.
func caseObjects(f *testing.F) []*unstructured.Unstructured {
	f.Helper()
	files, err := filepath.Glob("../../../../test/testdata/cases/*/golden.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, document := range strings.Split(string(text), "---\n# Source: ")[1:] {
			_, body, _ := strings.Cut(document, "\n")
			object := object(f, body)
			if scheme.Scheme.Recognizes(object.GroupVersionKind()) && !jobs.RunsOnce(object) { // those are not compared
				object.SetUID("live")
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// stored is an object as the API server returns it, with the empty objects that its Go type always has, as resources of containers.
func stored(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	typed, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	return &unstructured.Unstructured{Object: content}, err
}

// mutate changes an object: of each two bytes, one picks a place and one what is done there. Metadata stays, labels and
// annotations aside.
func mutate(object *unstructured.Unstructured, edits []byte) {
	for i := 0; i+1 < len(edits); i += 2 {
		var places []func(byte)
		for _, field := range sortedKeys(object.Object) {
			if field == "spec" || field == "data" {
				collect(object.Object[field], func(value any) { object.Object[field] = value }, &places)
			}
		}
		if len(places) == 0 {
			return
		}
		places[int(edits[i])%len(places)](edits[i+1])
	}
}

// collect lists what can be changed below a value.
func collect(value any, replace func(any), places *[]func(byte)) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(value) {
			*places = append(*places, func(what byte) {
				if empty, isMap := value[key].(map[string]any); what%5 == 0 && (!isMap || len(empty) > 0) { // an empty one counts as left out
					delete(value, key)
				}
			})
			collect(value[key], func(other any) { value[key] = other }, places)
		}
	case []any:
		*places = append(*places, func(what byte) { changeList(value, what, replace) })
		for i := range value {
			collect(value[i], func(other any) { value[i] = other }, places)
		}
	case string:
		*places = append(*places, func(what byte) { replace(fmt.Sprintf("%s%d", value, what)) })
	case int64:
		*places = append(*places, func(what byte) { replace(value + int64(what)) })
	case bool:
		*places = append(*places, func(byte) { replace(!value) })
	}
}

// changeList takes out an item, turns the order around, or adds an item of someone else's, with other texts and numbers.
func changeList(items []any, what byte, replace func(any)) {
	switch {
	case len(items) == 0:
	case what%4 == 0:
		replace(append([]any{}, items[1:]...))
	case what%4 == 1:
		turned := make([]any, 0, len(items))
		for i := len(items) - 1; i >= 0; i-- {
			turned = append(turned, items[i])
		}
		replace(turned)
	case what%4 == 2:
		replace(append(append([]any{}, items...), foreign(items[0], what)))
	default:
		replace(append([]any{foreign(items[0], what)}, items...))
	}
}

func foreign(value any, what byte) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key := range value {
			out[key] = foreign(value[key], what)
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, foreign(item, what))
		}
		return out
	case string:
		return value + "-foreign"
	case int64:
		return value + int64(what)
	}
	return value
}
