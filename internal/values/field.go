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
)

// fieldError names the field of a spec for which it cannot be decoded. Decoders say where in the Go type it is, if at all.
func fieldError(spec any, err error) error {
	path, alone := locate(spec, "spec", err, func(part any) any { return part })
	return fmt.Errorf("%s: %s", path, reason(alone))
}

// locate returns the deepest part of a spec that cannot be decoded even by itself, and why. Within makes a spec of a part.
func locate(part any, path string, err error, within func(part any) any) (string, error) {
	try := func(child any, path string, within func(child any) any) (string, error) {
		if _, err := decode(within(child)); err != nil {
			return locate(child, path, err, within)
		}
		return "", nil
	}
	switch part := part.(type) {
	case map[string]any:
		if _, err := decode(within(map[string]any{})); err != nil {
			return path, err // it is no place for a map
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			at, why := try(part[key], path+"."+key, func(child any) any { return within(map[string]any{key: child}) })
			if why != nil {
				return at, why
			}
		}
	case []any:
		if _, err := decode(within([]any{})); err != nil {
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

// reason says why a value cannot be decoded, without the value.
func reason(err error) string {
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.Is(err, resource.ErrFormatWrong), errors.Is(err, resource.ErrNumeric), errors.Is(err, resource.ErrSuffix):
		return "it is no quantity, such as 500m or 1Gi"
	case !errors.As(err, &mistyped) || mistyped.Type == nil:
		return err.Error()
	}
	got, _, _ := strings.Cut(mistyped.Value, " ") // a number follows
	want := jsonType(mistyped.Type)
	if got == "bool" {
		got = "boolean"
	}
	if got == "number" && want == "integer" {
		return fmt.Sprintf("it must be a whole number of %d bits", mistyped.Type.Bits())
	}
	return fmt.Sprintf("got %s, want %s", got, want)
}

// jsonType is what a Go type is in JSON.
func jsonType(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Pointer:
		return jsonType(of.Elem())
	}
	return "integer"
}
