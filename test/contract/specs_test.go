package contract

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// maker makes the specs in which fields are tried.
type maker struct {
	schema node
	table  map[string]entry
}

// trial is a field, a spec without it and specs with it, one for each value. A required field has no spec without it.
type trial struct {
	field
	values  []any
	without map[string]any
	with    []map[string]any
}

func (m *maker) trial(f field) (*trial, error) {
	values, err := m.values(f.path, f.schema)
	if err != nil {
		return nil, err
	}
	if key, found := m.key(f.path); found && m.table[key].Needed {
		f.required = true
	}
	if f.required && len(values) < 2 {
		return nil, fmt.Errorf("a required field needs two values: give a value and an other in values.yaml")
	}
	t := &trial{field: f, values: values}
	if !f.required {
		if t.without, err = m.set(m.base(f.path), f.path, nil); err != nil {
			return nil, err
		}
	}
	for _, value := range values {
		spec, err := m.set(m.base(f.path), f.path, value)
		if err != nil {
			return nil, err
		}
		t.with = append(t.with, spec)
	}
	return t, nil
}

// values to try: those of the table, else some that fit the schema.
func (m *maker) values(path string, schema node) ([]any, error) {
	if key, found := m.key(path); found && m.table[key].Value != nil {
		values := []any{m.table[key].Value}
		if other := m.table[key].Other; other != nil {
			values = append(values, other)
		}
		return values, nil
	}
	values, err := generate(schema)
	if err != nil {
		return nil, fmt.Errorf("no value to try: %w; give a value and an other for %s in values.yaml", err, path)
	}
	return values, nil
}

// base is what the spec holds besides the field: that of its entry or of the nearest entry above it.
func (m *maker) base(path string) map[string]any {
	for ancestor := path; ancestor != ""; ancestor = parent(ancestor) {
		key, found := m.key(ancestor)
		if !found || m.table[key].Base == nil {
			continue
		}
		return named(runtime.DeepCopyJSON(m.table[key].Base), star(key, ancestor))
	}
	return map[string]any{}
}

func parent(path string) string {
	if list, found := strings.CutSuffix(path, "[]"); found {
		return list
	}
	return path[:max(strings.LastIndex(path, "."), 0)]
}

// key finds the entry of a path; a * in it stands for any one name.
func (m *maker) key(path string) (string, bool) {
	if _, found := m.table[path]; found {
		return path, true
	}
	for _, key := range sortedKeys(m.table) {
		if matches(key, path) {
			return key, true
		}
	}
	return "", false
}

func matches(key, path string) bool {
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

// set puts a value at a path, or removes what is there where the value is nil. Objects on the way are made, with all
// that they require.
func (m *maker) set(spec map[string]any, path string, value any) (map[string]any, error) {
	schema, current, done := m.schema, spec, ""
	segments := strings.Split(path, ".")
	for i, segment := range segments {
		last := i == len(segments)-1
		if err := m.complete(current, schema, done, path); err != nil {
			return nil, err
		}
		done = join(done, segment)
		name, isList := strings.CutSuffix(segment, "[]")
		if last {
			if delete(current, name); value != nil {
				current[name] = runtime.DeepCopyJSONValue(value)
			}
			return spec, nil
		}
		var err error
		if schema, err = at(schema, segment); err != nil {
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

// complete gives an object what it requires, except the field at the path except and what leads to it.
func (m *maker) complete(object map[string]any, schema node, prefix, except string) error {
	for _, name := range schema.Required {
		path, property := join(prefix, name), schema.Properties[name]
		if _, found := object[name]; found || within(except, path) {
			continue
		}
		switch {
		case ours(property):
			nested := map[string]any{}
			object[name] = nested
			if err := m.complete(nested, property, path, except); err != nil {
				return err
			}
		case property.Items != nil && property.Items.Schema != nil && ours(*property.Items.Schema):
			nested := map[string]any{}
			object[name] = []any{nested}
			if err := m.complete(nested, *property.Items.Schema, path+"[]", except); err != nil {
				return err
			}
		default:
			values, err := m.values(path, property)
			if err != nil {
				return err
			}
			object[name] = runtime.DeepCopyJSONValue(values[0])
		}
	}
	return nil
}
