package values

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsjson "sigs.k8s.io/json"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/render/typecheck"
)

// decoder decodes values with a Go type, and encodes them again, so that quantities are canonical and nothing that the
// type does not know gets to the chart. It goes by way of JSON: the unstructured converter truncates numbers that do
// not fit.
type decoder struct{ typ reflect.Type }

// coreOf returns the decoder of a kind's spec, if the kind has a Go type.
func coreOf(kind schema.GroupVersionKind) (decoder, bool) {
	typ, typed := fields.Core(kind)
	return decoder{typ}, typed
}

// canonical returns a value as its type encodes it, and the paths of fields that the type does not know. The error
// names the field.
func (d decoder) canonical(path string, value any) (out any, unknown []string, err error) {
	if found := typecheck.CheckVast(value, d.typ); len(found) > 0 {
		return nil, nil, fmt.Errorf("%s: %s", join(path, found[0].Field()), found[0].Message)
	}
	content, err := json.Marshal(value)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	into := reflect.New(d.typ).Interface()
	strict, err := sigsjson.UnmarshalStrict(content, into, sigsjson.DisallowUnknownFields)
	if err != nil {
		at, alone := locate(value, path, err, d.decode, func(part any) any { return part })
		return nil, nil, fmt.Errorf("%s: %s", at, reason(alone))
	}
	for _, field := range strict {
		var named sigsjson.FieldError
		if errors.As(field, &named) {
			unknown = append(unknown, join(path, named.FieldPath()))
		}
	}
	if content, err = json.Marshal(into); err == nil {
		err = json.Unmarshal(content, &out)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, unknown, nil
}

// decode returns why a value cannot be decoded; nil if it can.
func (d decoder) decode(value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(content, reflect.New(d.typ).Interface())
}

// join appends the path within a value to the one that leads to it.
func join(path, within string) string {
	if strings.HasPrefix(within, "[") {
		return path + within
	}
	return path + "." + within
}

// locate returns the deepest part of a spec that cannot be decoded even alone, and why. Within builds a spec from a
// part.
func locate(part any, path string, err error, decode func(any) error, within func(part any) any) (string, error) {
	try := func(child any, path string, within func(child any) any) (string, error) {
		if err := decode(within(child)); err != nil {
			return locate(child, path, err, decode, within)
		}
		return "", nil
	}
	switch part := part.(type) {
	case map[string]any:
		if err := decode(within(map[string]any{})); err != nil {
			return path, err // no map may be there
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			at, why := try(part[key], path+"."+key, func(child any) any { return within(map[string]any{key: child}) })
			if why != nil {
				return at, why
			}
		}
	case []any:
		if err := decode(within([]any{})); err != nil {
			return path, err
		}
		for i, item := range part {
			at, why := try(item, fmt.Sprintf("%s[%d]", path, i), func(child any) any { return within([]any{child}) })
			if why != nil {
				return at, why
			}
		}
	}
	return path, err
}

// reason returns why a value cannot be decoded, without the value.
func reason(err error) string {
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.Is(err, resource.ErrFormatWrong), errors.Is(err, resource.ErrNumeric), errors.Is(err, resource.ErrSuffix):
		return "not a quantity, such as 500m or 1Gi"
	case !errors.As(err, &mistyped) || mistyped.Type == nil:
		return err.Error()
	}
	got, _, _ := strings.Cut(mistyped.Value, " ") // a number follows
	want := fields.JSONType(mistyped.Type)
	if got == "bool" {
		got = "boolean"
	}
	if got == "number" && want == "integer" {
		return fmt.Sprintf("must be a whole number of %d bits", mistyped.Type.Bits())
	}
	return fmt.Sprintf("got %s, want %s", got, want)
}
