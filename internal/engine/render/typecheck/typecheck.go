// Package typecheck finds the fields of an object that do not fit the Go type of its kind, and describes them for
// template authors: decoding reports only that it fails.
package typecheck

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// Misfit is a field that does not fit.
type Misfit struct {
	// Path of the field: names and, in lists, indexes.
	Path []any
	// Message says what is wrong with it.
	Message string
}

// Misfits are the misfits of an object.
type Misfits []Misfit

// shown is the number of misfits in an error.
const shown = 3

func (m Misfits) Error() string {
	var parts []string
	for _, misfit := range m[:min(len(m), shown)] {
		parts = append(parts, misfit.Field()+": "+misfit.Message)
	}
	if len(m) > shown {
		parts = append(parts, fmt.Sprintf("and %d more", len(m)-shown))
	}
	return strings.Join(parts, "; ")
}

// Field returns the path for people.
func (m Misfit) Field() string {
	var out strings.Builder
	for i, step := range m.Path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", step)
		case string:
			if i > 0 {
				out.WriteByte('.')
			}
			out.WriteString(step)
		}
	}
	return out.String()
}

// Allowed returns the values that a string type accepts; none if it accepts any text.
type Allowed func(reflect.Type) []string

// Check lists the misfits in an object of a built-in kind. For other kinds there are none.
func Check(object *unstructured.Unstructured, allowed Allowed) Misfits {
	c := &checker{allowed: allowed}
	if typed, err := scheme.Scheme.New(object.GroupVersionKind()); err == nil {
		c.value(object.Object, reflect.TypeOf(typed).Elem(), nil)
	}
	return c.found
}

// CheckAs lists the misfits in a value at a path, which should be of a Go type.
func CheckAs(value any, as reflect.Type, path []any) Misfits {
	c := &checker{}
	c.value(value, as, path)
	return c.found
}

type checker struct {
	allowed Allowed
	found   Misfits
}

func (c *checker) add(path []any, message string, args ...any) {
	c.found = append(c.found, Misfit{append([]any(nil), path...), fmt.Sprintf(message, args...)})
}

// vast is the message for a quantity that must not even be decoded.
var vast = "not a quantity: " + fields.ErrVast.Error()

// CheckVast lists the quantities in a value of a Go type that must not even be decoded.
func CheckVast(value any, as reflect.Type) Misfits {
	if !fields.Vast(value) {
		return nil
	}
	return slices.DeleteFunc(CheckAs(value, as, nil), func(m Misfit) bool { return m.Message != vast })
}

// Vast lists such quantities of an object of a built-in kind.
func Vast(object *unstructured.Unstructured) Misfits {
	typed, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil
	}
	return CheckVast(object.Object, reflect.TypeOf(typed).Elem())
}

var quantity = reflect.TypeFor[resource.Quantity]()

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value compares a value with a type.
func (c *checker) value(value any, t reflect.Type, path []any) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case value == nil:
	case reflect.PointerTo(t).Implements(unmarshaler):
		c.custom(value, t, path)
	case t.Kind() == reflect.Struct:
		c.fields(value, t, path)
	case t.Kind() == reflect.Map:
		entries, isMap := value.(map[string]any)
		if !isMap {
			c.add(path, "must be a map, not %s", kindOf(value))
		}
		for _, key := range sorted(entries) {
			c.value(entries[key], t.Elem(), append(path, key))
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		items, isList := value.([]any)
		if !isList {
			c.add(path, "must be a list, not %s", kindOf(value))
		}
		for i, item := range items {
			c.value(item, t.Elem(), append(path, i))
		}
	default:
		c.scalar(value, t, path)
	}
}

// custom compares a value with a type that decodes itself.
func (c *checker) custom(value any, t reflect.Type, path []any) {
	if t == quantity && fields.Vast(value) {
		c.add(path, "%s", vast)
		return
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		c.add(path, "not a valid %s: %s", strings.ToLower(words(t.Name())), err)
	}
}

func (c *checker) fields(value any, t reflect.Type, path []any) {
	entries, isMap := value.(map[string]any)
	if !isMap {
		c.add(path, "must be a map, not %s", kindOf(value))
		return
	}
	known := fields.Members(t)
	for _, name := range sorted(entries) {
		field, found := known[name]
		if !found {
			c.add(append(path, name), "there is no such field%s", fields.DidYouMean(name, sorted(known)))
			continue
		}
		c.value(entries[name], field, append(path, name))
	}
}

func (c *checker) scalar(value any, t reflect.Type, path []any) {
	switch t.Kind() {
	case reflect.String:
		text, isText := value.(string)
		if !isText {
			c.add(path, "must be a string, not %s%s", kindOf(value), quote(value))
			return
		}
		if c.allowed == nil || text == "" {
			return
		}
		if values := c.allowed(t); len(values) > 0 && !slices.Contains(values, text) {
			c.add(path, "%q is none of %s%s", text, strings.Join(values, ", "), fields.DidYouMean(text, values))
		}
	case reflect.Bool:
		if _, is := value.(bool); !is {
			c.add(path, "must be true or false, not %s%s", kindOf(value), unquote(value))
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64:
		number, is := value.(int64)
		if float, isFloat := value.(float64); isFloat && float == math.Trunc(float) {
			number, is = int64(float), true
		}
		switch {
		case !is:
			c.add(path, "must be a whole number, not %s%s", kindOf(value), unquote(value))
		case reflect.Zero(t).CanInt() && reflect.Zero(t).OverflowInt(number), reflect.Zero(t).CanUint() && number < 0:
			c.add(path, "the number does not fit into %d bits", t.Bits())
		}
	case reflect.Float32, reflect.Float64:
		switch value.(type) {
		case int64, float64:
		default:
			c.add(path, "must be a number, not %s%s", kindOf(value), unquote(value))
		}
	case reflect.Slice: // of bytes
		if _, is := value.(string); !is {
			c.add(path, "must be a string in base64, not %s", kindOf(value))
		}
	}
}
