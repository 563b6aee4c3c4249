// Package proof compares the original objects with those of an AppService or AppJob, by meaning: objects as an API
// server would answer them, containers by what they are rather than by name, volumes by what they contain, ports by
// number, and selectors by which workloads they find. It returns every difference, and knows of no reason for one.
//
// It shares no code with the translation (package importer), so that a mistake there is seen here.
package proof

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Side is an application as it is before, or after.
type Side struct {
	// Objects of the application, the workload among them.
	Objects []*unstructured.Unstructured
	// Others are the labels of the pods of other workloads in the namespace, by kind and name of each as it was before.
	Others map[string]map[string]string
}

// Difference is a field that differs, or a whole object if Field is empty.
type Difference struct {
	// Before and After are the object on each side; nil where there is none.
	Before, After *unstructured.Unstructured
	Field         string
	// Old and New are the values, nil where there is none: those of JSON, with entries of lists by their keys.
	Old, New any
}

// Object returns kind and name of the object before; after if there was none.
func (d Difference) Object() string {
	if d.Before != nil {
		return describe(d.Before)
	}
	return describe(d.After)
}

// String returns the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s: %s → %s", d.Object(), d.Field, Brief(d.Old), Brief(d.New))
}

// Differences returns all differences, in the order of the objects before, then of those after.
func Differences(before, after Side) []Difference {
	b, a := read(before), read(after)
	pairs := pair(b, a)
	var list []Difference
	for _, p := range pairs {
		if p.before == nil || p.after == nil {
			list = append(list, Difference{Before: p.before, After: p.after})
			continue
		}
		diff("", b.meaning(p.before), a.meaning(p.after), func(field string, old, now any) {
			list = append(list, Difference{p.before, p.after, strings.TrimPrefix(field, "."), old, now})
		})
	}
	return list
}

// Same returns a function that reports whether other objects mean the same as these.
func Same(objects []*unstructured.Unstructured) func([]*unstructured.Unstructured) bool {
	side, was, meant := read(Side{Objects: objects}), map[string]*unstructured.Unstructured{}, map[string]map[string]any{}
	for _, object := range objects {
		was[describe(object)], meant[describe(object)] = object, side.meaning(object)
	}
	return func(others []*unstructured.Unstructured) bool {
		now := read(Side{Objects: others})
		return len(others) == len(objects) && !slices.ContainsFunc(others, func(o *unstructured.Unstructured) bool {
			old, same := was[describe(o)], true
			if old == nil || reflect.DeepEqual(old.Object, o.Object) && role(o) == workload {
				return old == nil
			}
			diff("", meant[describe(o)], now.meaning(o), func(string, any, any) { same = false })
			return !same
		})
	}
}

func describe(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// pairing is an object before and after.
type pairing struct{ before, after *unstructured.Unstructured }

// pair finds for each object before the one that it becomes: of the same kind, or both workloads; of several, the one
// of its name, else the one that differs least.
//
// The Services, ConfigMaps and so on of one kind are few.
func pair(b, a *side) []pairing {
	left := slices.Clone(a.Objects)
	of := map[*unstructured.Unstructured]*unstructured.Unstructured{}
	take := func(object *unstructured.Unstructured, fits func(*unstructured.Unstructured) bool) {
		candidates := slices.DeleteFunc(slices.Clone(left), func(o *unstructured.Unstructured) bool {
			return a.role(o) != b.role(object) || !fits(o)
		})
		if of[object] != nil || len(candidates) == 0 {
			return
		}
		of[object] = slices.MinFunc(candidates, func(x, y *unstructured.Unstructured) int {
			return distance(b, a, object, x) - distance(b, a, object, y)
		})
		left = slices.DeleteFunc(left, func(o *unstructured.Unstructured) bool { return o == of[object] })
	}
	for _, object := range b.Objects {
		if role(object) == workload {
			take(object, func(*unstructured.Unstructured) bool { return true })
			b.becomes(of[object], a)
		}
	}
	for _, object := range b.Objects {
		take(object, func(o *unstructured.Unstructured) bool { return o.GetName() == object.GetName() })
	}
	var list []pairing
	for _, object := range b.Objects {
		take(object, func(*unstructured.Unstructured) bool { return true })
		list = append(list, pairing{object, of[object]})
	}
	for _, object := range left {
		list = append(list, pairing{nil, object})
	}
	return list
}

func distance(b, a *side, before, after *unstructured.Unstructured) int {
	count := 0
	diff("", b.meaning(before), a.meaning(after), func(string, any, any) { count++ })
	return count
}

const workload = "workload"

// role is what an object is compared with: the kind, except for workloads: an application has one, of any kind.
func role(object *unstructured.Unstructured) string {
	if podsOf(object) != nil && !isTask(object) {
		return workload
	}
	return object.GetKind()
}

// role is what an object is paired by: the Service that replicas have their names from becomes no other.
func (s *side) role(object *unstructured.Unstructured) string {
	if object.GetKind() == "Service" && s.governing != "" && object.GetName() == s.governing {
		return "the Service of the replicas"
	}
	return role(object)
}

// isTask reports whether an object is a Job that is part of a release: a hook of Helm, or what the operator makes of
// one.
func isTask(object *unstructured.Unstructured) bool {
	annotations := object.GetAnnotations()
	return object.GetKind() == "Job" && (annotations["helm.sh/hook"] != "" || annotations["app.example.com/stage"] != "")
}

// keyed is a list whose entries are found by a key. Their order is compared if it is not nil.
type keyed struct {
	items map[string]any
	order []string
}

// diff calls found for everything that only one side has, and for each value that differs.
func diff(path string, old, now any, found func(path string, old, now any)) {
	if _, is := old.(*keyed); is && now == nil {
		now = newKeyed()
	}
	switch before := old.(type) {
	case map[string]any:
		if after, is := now.(map[string]any); is {
			all := maps.Clone(before)
			maps.Copy(all, after)
			for _, key := range slices.Sorted(maps.Keys(all)) {
				diff(path+"."+key, before[key], after[key], found)
			}
			return
		}
	case *keyed:
		if after, is := now.(*keyed); is {
			diffKeyed(path, before, after, found)
			return
		}
	case []any:
		if after, is := now.([]any); is && len(before) == len(after) {
			for n := range before {
				diff(fmt.Sprintf("%s[%d]", path, n), before[n], after[n], found)
			}
			return
		}
	}
	if !empty(old) && !empty(now) && inJSON(old) != inJSON(now) || empty(old) != empty(now) {
		found(path, old, now)
	}
}

func diffKeyed(path string, before, after *keyed, found func(path string, old, now any)) {
	all := maps.Clone(before.items)
	maps.Copy(all, after.items)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		diff(path+"["+key+"]", before.items[key], after.items[key], found)
	}
	common := func(k, other *keyed) []string {
		return slices.DeleteFunc(slices.Clone(k.order), func(key string) bool { return other.items[key] == nil })
	}
	x, y := common(before, after), common(after, before)
	if before.order != nil && after.order != nil && !slices.Equal(x, y) {
		found(path+" (order)", strings.Join(x, ", "), strings.Join(y, ", "))
	}
}

// empty reports whether a value says nothing.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return len(value) == 0
	case *keyed:
		return len(value.items) == 0
	}
	return false
}

// Brief returns a value in a few characters.
func Brief(value any) string {
	switch value := value.(type) {
	case nil:
		return "(none)"
	case map[string]any:
		return "(object)"
	case *keyed:
		return fmt.Sprintf("(%d items)", len(value.items))
	case []any:
		return fmt.Sprintf("(%d items)", len(value))
	}
	return fmt.Sprint(value)
}
