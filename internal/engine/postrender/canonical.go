package postrender

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/render/typecheck"
)

// Canonical converts each object of a built-in kind to the form that the API server stores: quantities in canonical
// form, no nulls. Live objects can then be compared with rendered ones. A field that the kind does not have is an error
// that names it, or is left out with a warning if the chart is served as it was published. For other kinds, only nulls
// are removed. The field that an object names for its pod template must have one.
func Canonical(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := reference.CheckPodTemplate(object); err != nil {
			return &ObjectError{object, err}
		}
		into, err := scheme.Scheme.New(object.GroupVersionKind())
		if runtime.IsNotRegisteredError(err) {
			prune(object.Object)
			continue
		}
		var unknown []error
		if err == nil {
			unknown, err = decode(object, into)
		}
		if in.Published == nil {
			err = cmp.Or(err, errors.Join(unknown...))
		} else if err == nil && len(unknown) > 0 {
			in.Warnings = append(in.Warnings, v1.Problem{Source: kube.KeyOf(object).String(), Reason: v1.ReasonFieldDropped,
				Message: fmt.Sprintf("left out: %v", errors.Join(unknown...))})
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
		if in.Published != nil {
			emptied(content, "data")
			emptied(content, "binaryData")
		}
		content["apiVersion"], content["kind"] = object.GetAPIVersion(), object.GetKind()
		delete(content, "status")
		prune(content)
		object.Object = content
	}
	return nil
}

// emptied replaces nulls in a map of texts, as the API server does in Secrets and ConfigMaps.
func emptied(content map[string]any, field string) {
	texts, _ := content[field].(map[string]any)
	for key, value := range texts {
		if value == nil {
			texts[key] = ""
		}
	}
}

// decode decodes by way of JSON: the unstructured converter truncates numbers that do not fit. It returns the fields
// that the kind does not have, too.
func decode(object *unstructured.Unstructured, into runtime.Object) (unknown []error, err error) {
	data, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	return kjson.UnmarshalStrict(data, into)
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
