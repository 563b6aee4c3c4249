package tree

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/text"
)

// fieldNamed matches fields of specs in messages and hints, for example spec.resources.limits.memory.
var fieldNamed = regexp.MustCompile(`\bspec((?:\.[a-z][A-Za-z0-9]*)+)`)

// values returns nodes for the fields that problems and hints name, and for those that defaults set, with their values
// and origins.
func (f *Findings) values() []*Node {
	paths := map[string]bool{}
	for _, source := range f.Status.Defaults {
		for _, path := range source.Fields {
			paths[path] = true
		}
	}
	name := func(texts ...string) {
		for _, text := range texts {
			for _, found := range fieldNamed.FindAllStringSubmatch(text, -1) {
				paths[strings.TrimPrefix(found[1], ".")] = true
			}
		}
	}
	for _, problem := range f.Status.Problems {
		name(problem.Source, problem.Message, problem.Hint)
	}
	for _, object := range f.Objects {
		for _, cause := range object.Causes {
			name(cause.Message, cause.Hint)
		}
	}
	var list []*Node
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		value, from := f.origin(strings.Split(path, "."))
		list = append(list, &Node{Type: TypeValue, Name: "spec." + path, Message: strings.TrimSpace(value + "  " + from)})
	}
	return list
}

// origin returns the value of a field of the spec, and the highest source that sets it.
func (f *Findings) origin(path []string) (value, from string) {
	spec, _ := f.Resource.Object["spec"].(map[string]any)
	joined := strings.Join(path, ".")
	if found, isSet, _ := unstructured.NestedFieldNoCopy(spec, path...); isSet {
		from = "spec"
		if manager := f.setBy(path); manager != "" {
			from += ", set by " + manager
		}
		for _, source := range f.Status.Defaults {
			if slices.ContainsFunc(source.Fields, func(field string) bool { return strings.HasPrefix(field, joined+".") }) {
				from += "; parts of it are from " + source.Source
			}
		}
		return short(found), from
	}
	for _, source := range f.Status.Defaults {
		covers := func(field string) bool {
			return field == joined || strings.HasPrefix(field, joined+".") || strings.HasPrefix(joined, field+".")
		}
		if !slices.ContainsFunc(source.Fields, covers) {
			continue
		}
		// those of the platform are in files of the operator, which nobody else reads
		if source.Source == defaults.ByNamespace {
			if found, isSet, _ := unstructured.NestedFieldNoCopy(f.Defaults, path...); isSet {
				value = short(found)
			}
		}
		return value, source.Source
	}
	if found, isSet, _ := unstructured.NestedFieldNoCopy(f.Chart, path...); isSet {
		return short(found), "values.yaml of the chart"
	}
	return "", "not set: the chart decides"
}

// mostValue is the maximum number of characters of a value that are shown.
const mostValue = 60

func short(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return text.Cut(string(content), mostValue)
}

// setBy returns the field manager that set a field of the spec; empty if that is not known.
func (f *Findings) setBy(path []string) string {
	for _, entry := range f.Resource.GetManagedFields() {
		if entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			continue
		}
		parent, last := set.WithPrefix(element("spec")), len(path)-1
		for _, key := range path[:last] {
			parent = parent.WithPrefix(element(key))
		}
		if parent.Members.Has(element(path[last])) || !parent.WithPrefix(element(path[last])).Empty() {
			return entry.Manager
		}
	}
	return ""
}

func element(name string) fieldpath.PathElement { return fieldpath.PathElement{FieldName: &name} }
