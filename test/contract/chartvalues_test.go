//go:build cluster

package contract

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/test/specs"
	"github.com/example/appservice-operator/test/try"
)

// isExempt reports whether a field of the spec, or each field in it, is the operator's own business.
func (s *surveyor) isExempt(name string) bool {
	if _, exempt := s.survey.exceptions.Fields[name]; exempt {
		return true
	}
	inside := s.Schema.Properties[name].Properties
	for field := range inside {
		if _, exempt := s.survey.exceptions.Fields[name+"."+field]; !exempt {
			return false
		}
	}
	return len(inside) > 0
}

// chartValues checks the leaves of the chart's values.yaml.
func (s *surveyor) chartValues() {
	all := try.Get(specs.ReadPlain(filepath.Join(chartDir, "values.yaml")))
	for _, path := range leaves("", all) {
		s.survey.values = append(s.survey.values, s.value(path, all))
	}
	for _, name := range specs.SortedKeys(s.Schema.Properties) {
		if _, found := all[name]; found {
			continue
		}
		if !s.isExempt(name) && !s.declaredByChart(name) {
			s.survey.values = append(s.survey.values, &result{path: name,
				err: fmt.Errorf("spec.%s is not in the chart's values.yaml: give its default there", name)})
		}
	}
}

// declaredByChart reports whether fields.yaml describes a field's default completely, even if there is none.
func (s *surveyor) declaredByChart(name string) bool {
	return s.survey.chart != nil && fields.Property(s.survey.chart.Spec, name) != nil
}

// value checks one leaf: it belongs to a field that has an effect, and its default is the value that applies without the field; or it is an
// exception and has an effect.
func (s *surveyor) value(path string, all map[string]any) *result {
	r := &result{path: path}
	why, exempt := s.survey.exceptions.Values[path]
	_, err := specs.At(s.Schema, path)
	switch {
	case err == nil && exempt:
		r.err = fmt.Errorf("is a field of the spec: delete the stale exception from exceptions.yaml")
	case err == nil:
		s.fieldValue(r, all)
	case !exempt:
		r.dead = true
		r.err = fmt.Errorf("is not a field of the spec, so it cannot be set: declare it in the chart's fields.yaml, remove it from values.yaml, " +
			"or name the reason in exceptions.yaml")
	default:
		r.exempt = true
		s.ownValue(r, why, all)
	}
	return r
}

func (s *surveyor) fieldValue(r *result, all map[string]any) {
	if _, exempt := s.survey.exceptions.Fields[r.path]; exempt {
		return
	}
	for _, f := range s.survey.fields {
		k := s.kept[f.path]
		switch {
		case f.path == r.path && k != nil && !k.Required:
			r.err = s.holds(k, all)
			return
		case specs.Within(f.path, r.path):
			return
		case specs.Within(r.path, f.path) && k != nil:
			s.ownValue(r, exception{Base: k.Without}, all)
			return
		}
	}
	r.dead = true
	r.err = fmt.Errorf("belongs to no field that moves something")
}

// holds checks that a default has the same effect without the field as with it.
func (s *surveyor) holds(k *kept, all map[string]any) error {
	rendered, err := s.operator.render(k.Without, changed(all, k.Path, k.chosen))
	if err != nil {
		return err
	}
	if moved := difference(k.rendered, rendered); len(moved) > 0 {
		return fmt.Errorf("a default of %v renders other %s than the field with this value", k.chosen, strings.Join(moved, ", "))
	}
	return nil
}

func (s *surveyor) ownValue(r *result, why exception, all map[string]any) {
	spec := map[string]any{}
	if why.Base != nil {
		spec = runtime.DeepCopyJSON(why.Base)
	}
	if r.err = s.Complete(spec, s.Schema, "", ""); r.err != nil {
		return
	}
	value := why.Value
	if value == nil {
		value = other(lookup(all, r.path))
	}
	before, err := s.operator.render(spec, nil)
	if err != nil {
		r.err = err
		return
	}
	after, err := s.operator.render(spec, changed(all, r.path, value))
	if err != nil {
		r.err = err
		return
	}
	if r.moved = difference(before, after); len(r.moved) == 0 {
		r.dead = true
		r.err = fmt.Errorf("moves nothing when it is %v: remove it from the chart's values.yaml, or give its exception a base in which it matters", value)
	}
}

// leaves are the paths of all scalars, lists and empty maps.
func leaves(prefix string, values map[string]any) []string {
	var paths []string
	for _, key := range specs.SortedKeys(values) {
		if nested, ok := values[key].(map[string]any); ok && len(nested) > 0 {
			paths = append(paths, leaves(specs.Join(prefix, key), nested)...)
		} else {
			paths = append(paths, specs.Join(prefix, key))
		}
	}
	return paths
}

func lookup(values map[string]any, path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(values, strings.Split(path, ".")...)
	return value
}

func changed(values map[string]any, path string, value any) map[string]any {
	values = runtime.DeepCopyJSON(values)
	_ = unstructured.SetNestedField(values, runtime.DeepCopyJSONValue(value), strings.Split(path, ".")...) // the path is there
	return values
}

func other(value any) any {
	switch value := value.(type) {
	case bool:
		return !value
	case int64:
		return value + 1
	case float64:
		return value + 1
	case string:
		return value + "x"
	}
	return value
}
