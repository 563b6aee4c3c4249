package charts

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// difference is a field, or an object, that Helm and the operator render otherwise.
type difference struct {
	object key
	// path is that of the field; empty if the whole object is missing or additional.
	path []string
	// helm and ours are what each renders; nothing if it does not.
	helm, ours any
	// test says that it is for helm test only, random that Helm renders it otherwise each time.
	test, random bool
}

// nothing is what is left out. A null is something else.
type nothing struct{}

func (nothing) String() string { return "nothing" }

func (d difference) String() string {
	return fmt.Sprintf("%s: %s: helm %.120v, ours %.120v", d.object, d.where(), shown(d.helm), shown(d.ours))
}

func (d difference) where() string {
	if len(d.path) == 0 {
		return "the object"
	}
	return strings.Join(d.path, ".")
}

func shown(value any) string {
	if text, is := value.(string); is {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}

// compare lists where objects differ, given several renderings of Helm.
func compare(helm []map[key]helmObject, ours map[key]*unstructured.Unstructured) (list []difference) {
	ours = renamed(helm[0], ours)
	for of, first := range helm[0] {
		d := difference{object: of, test: first.test}
		random := map[string]bool{}
		for _, again := range helm[1:] {
			other, there := again[of]
			if !there {
				d.random = true
				continue
			}
			each(nil, first.Object, other.Object, func(path []string, _, _ any) { random[strings.Join(path, "\x00")] = true })
		}
		got, found := ours[of]
		if !found {
			d.helm, d.ours = "an object", nothing{}
			list = append(list, d)
			continue
		}
		each(nil, first.Object, withoutMarks(got).Object, func(path []string, helm, ours any) {
			one := d
			one.path, one.helm, one.ours = slices.Clone(path), helm, ours
			for i := range path {
				one.random = one.random || random[strings.Join(path[:i+1], "\x00")]
			}
			list = append(list, one)
		})
	}
	for of := range ours {
		if _, found := helm[0][of]; !found {
			list = append(list, difference{object: of, helm: nothing{}, ours: "an object"})
		}
	}
	slices.SortFunc(list, func(a, b difference) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// renamed finds the Jobs that run once, whose names have a digest at the end, under Helm's names.
func renamed(helm map[key]helmObject, ours map[key]*unstructured.Unstructured) map[key]*unstructured.Unstructured {
	ours = maps.Clone(ours)
	for of, object := range maps.Clone(ours) {
		if _, same := helm[of]; same || of.Kind != "Job" || object.GetAnnotations()[v1.AnnotationRerun] == "" {
			continue
		}
		without := of
		without.name = of.name[:max(0, strings.LastIndexByte(of.name, '-'))]
		if _, found := helm[without]; found && ours[without] == nil {
			ours[without] = object
			delete(ours, of)
		}
	}
	return ours
}

// each calls found for each field that differs.
func each(path []string, a, b any, found func(path []string, a, b any)) {
	switch x := a.(type) {
	case map[string]any:
		y, is := b.(map[string]any)
		if !is {
			break
		}
		names := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			each(append(path, name), member(x, name), member(y, name), found)
		}
		return
	case []any:
		y, is := b.([]any)
		if !is || len(x) != len(y) {
			break
		}
		for i := range x {
			each(append(path, strconv.Itoa(i)), x[i], y[i], found)
		}
		return
	case nothing: // each of the labels that the other has, if this one has none
		if y, is := b.(map[string]any); is && len(y) > 0 && marked(path) {
			each(path, map[string]any{}, y, found)
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		found(path, a, b)
	}
}

func member(of map[string]any, name string) any {
	if value, there := of[name]; there {
		return value
	}
	return nothing{}
}

// marked reports whether a path is that of labels or annotations.
func marked(path []string) bool {
	return len(path) > 1 && path[len(path)-2] == "metadata" &&
		(path[len(path)-1] == "labels" || path[len(path)-1] == "annotations")
}
