package hooks

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	"github.com/example/appservice-operator/internal/kube/reference"
	"github.com/example/appservice-operator/internal/render/typecheck"
)

// Canonical converts each object of a built-in kind to the form that the API server stores: quantities in canonical
// form, no nulls. Live objects can then be compared with rendered ones. A field that the kind does not have is an error
// that names it. For other kinds, only nulls are removed. The field that an object names for its pod template must have
// one.
func Canonical(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := reference.CheckPodTemplate(object); err != nil {
			return &ObjectError{object, err}
		}
		into, err := scheme.Scheme.New(object.GroupVersionKind())
		if runtime.IsNotRegisteredError(err) {
			prune(object.Object)
			continue
		}
		if err == nil {
			err = decodeStrictly(object, into)
		}
		if err != nil {
			if misfits := typecheck.Check(object, nil); len(misfits) > 0 {
				err = misfits // in better words
			}
			return notValid(object, err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
		if err != nil {
			return notValid(object, err)
		}
		content["apiVersion"], content["kind"] = object.GetAPIVersion(), object.GetKind()
		delete(content, "status")
		prune(content)
		object.Object = content
	}
	return nil
}

// decodeStrictly decodes by way of JSON: the unstructured converter truncates numbers that do not fit.
func decodeStrictly(object *unstructured.Unstructured, into runtime.Object) error {
	data, err := json.Marshal(object.Object)
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	if err != nil {
		return err
	}
	return errors.Join(strict...)
}

// prune removes nulls: to the API server they mean the same as a field left out.
func prune(content map[string]any) {
	for key, value := range content {
		if value == nil {
			delete(content, key)
			continue
		}
		pruneValue(value)
	}
}

func pruneValue(value any) {
	switch value := value.(type) {
	case map[string]any:
		prune(value)
	case []any:
		for _, item := range value {
			pruneValue(item)
		}
	}
}
