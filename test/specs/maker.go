package specs

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Maker makes the specs in which fields are tried.
type Maker struct {
	Schema Node
	Table  map[string]Entry
}

// Trial is a field, a spec without it and specs with it, one for each value. A required field has no spec without it.
type Trial struct {
	Field
	Values  []any
	Without map[string]any
	With    []map[string]any
}

// Trial makes the specs in which a field is tried.
func (m *Maker) Trial(f Field) (*Trial, error) {
	values, err := m.Values(f.Path, f.Schema)
	if err != nil {
		return nil, err
	}
	if key, found := m.key(f.Path); found && m.Table[key].Needed {
		f.Required = true
	}
	if f.Required && len(values) < 2 {
		return nil, fmt.Errorf("a required field needs two values: give a value and an other in values.yaml")
	}
	t := &Trial{Field: f, Values: values}
	if !f.Required {
		if t.Without, err = m.Set(m.Base(f.Path), f.Path, nil); err != nil {
			return nil, err
		}
	}
	for _, value := range values {
		spec, err := m.Set(m.Base(f.Path), f.Path, value)
		if err != nil {
			return nil, err
		}
		t.With = append(t.With, spec)
	}
	return t, nil
}

// Values to try: those of the table, else some that fit the schema.
func (m *Maker) Values(path string, schema Node) ([]any, error) {
	if key, found := m.key(path); found && m.Table[key].Value != nil {
		values := []any{m.Table[key].Value}
		if other := m.Table[key].Other; other != nil {
			values = append(values, other)
		}
		return values, nil
	}
	values, err := Generate(schema)
	if err != nil {
		return nil, fmt.Errorf("no value to try: %w; give a value and an other for %s in values.yaml", err, path)
	}
	return values, nil
}

// Base is what the spec holds besides the field: that of its entry or of the nearest entry above it.
func (m *Maker) Base(path string) map[string]any {
	for ancestor := path; ancestor != ""; ancestor = Parent(ancestor) {
		key, found := m.key(ancestor)
		if !found || m.Table[key].Base == nil {
			continue
		}
		return named(runtime.DeepCopyJSON(m.Table[key].Base), star(key, ancestor))
	}
	return map[string]any{}
}

// Parent is the path of the field or list above a path.
func Parent(path string) string {
	if list, found := strings.CutSuffix(path, "[]"); found {
		return list
	}
	return path[:max(strings.LastIndex(path, "."), 0)]
}

// key finds the entry of a path; a * in it stands for any one name.
func (m *Maker) key(path string) (string, bool) {
	if _, found := m.Table[path]; found {
		return path, true
	}
	for _, key := range SortedKeys(m.Table) {
		if Matches(key, path) {
			return key, true
		}
	}
	return "", false
}

// Matches reports whether a key of the table, in which a * may stand for any one name, is that of a path.
func Matches(key, path string) bool {
	keys, names := strings.Split(key, "."), strings.Split(path, ".")
	return slices.EqualFunc(keys, names, func(key, name string) bool { return key == name || key == "*" })
}

// star is the name that the * in a key stands for.
func star(key, path string) string {
	if i := slices.Index(strings.Split(key, "."), "*"); i >= 0 {
		return strings.Split(path, ".")[i]
	}
	return ""
}

func named(spec map[string]any, name string) map[string]any {
	for key, value := range spec {
		if nested, ok := value.(map[string]any); ok {
			value = named(nested, name)
		}
		if key == "*" {
			delete(spec, key)
			key = name
		}
		spec[key] = value
	}
	return spec
}

// Set puts a value at a path, or removes the value there if it is nil. Objects on the way are made, with all
// that they require.
func (m *Maker) Set(spec map[string]any, path string, value any) (map[string]any, error) {
	schema, current, done := m.Schema, spec, ""
	segments := strings.Split(path, ".")
	for i, segment := range segments {
		last := i == len(segments)-1
		if err := m.Complete(current, schema, done, path); err != nil {
			return nil, err
		}
		done = Join(done, segment)
		name, isList := strings.CutSuffix(segment, "[]")
		if last {
			if delete(current, name); value != nil {
				current[name] = runtime.DeepCopyJSONValue(value)
			}
			return spec, nil
		}
		var err error
		if schema, err = At(schema, segment); err != nil {
			return nil, err
		}
		current = enter(current, name, isList)
	}
	return spec, nil
}

func enter(current map[string]any, name string, isList bool) map[string]any {
	if !isList {
		next, found := current[name].(map[string]any)
		if !found {
			next = map[string]any{}
			current[name] = next
		}
		return next
	}
	items, _ := current[name].([]any)
	if len(items) == 0 {
		items = []any{map[string]any{}}
		current[name] = items
	}
	return items[0].(map[string]any)
}

// Complete adds the required fields to an object, except the field at the path except and what leads to it.
func (m *Maker) Complete(object map[string]any, schema Node, prefix, except string) error {
	for _, name := range schema.Required {
		path, property := Join(prefix, name), schema.Properties[name]
		if _, found := object[name]; found || Within(except, path) {
			continue
		}
		switch {
		case Ours(property):
			nested := map[string]any{}
			object[name] = nested
			if err := m.Complete(nested, property, path, except); err != nil {
				return err
			}
		case property.Items != nil && property.Items.Schema != nil && Ours(*property.Items.Schema):
			nested := map[string]any{}
			object[name] = []any{nested}
			if err := m.Complete(nested, *property.Items.Schema, path+"[]", except); err != nil {
				return err
			}
		default:
			values, err := m.Values(path, property)
			if err != nil {
				return err
			}
			object[name] = runtime.DeepCopyJSONValue(values[0])
		}
	}
	return nil
}
