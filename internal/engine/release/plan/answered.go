package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AsAnswered returns a rendered object with the values that an answer of the API server has for its fields, and with
// all that the answer has in the part that belongs to the operator alone.
func AsAnswered(desired, answer *unstructured.Unstructured) *unstructured.Unstructured {
	comparison := &lacks{exclusive: exclusiveOf(desired)}
	content, _ := comparison.answered("", desired.Object, answer.Object).(map[string]any)
	return &unstructured.Unstructured{Object: content}
}

func (l *lacks) answered(path string, want, answer any) any {
	switch want := want.(type) {
	case map[string]any:
		content, ok := answer.(map[string]any)
		if !ok || l.atomic(path) {
			return answer
		}
		out := map[string]any{}
		for key, value := range content {
			if wanted, rendered := want[key]; rendered {
				out[key] = l.answered(path+"."+key, wanted, value)
			} else if l.ours(path) {
				out[key] = value
			}
		}
		return out
	case []any:
		content, ok := answer.([]any)
		keys := keysFor(path)
		if !ok || keys == nil || !allMaps(want) {
			return answer
		}
		out := []any{}
		for _, item := range content {
			at, _ := item.(map[string]any)
			if wanted := find(want, at, keys); wanted != nil {
				out = append(out, l.answered(fmt.Sprintf("%s[%v]", path, at[keys[0]]), wanted, item))
			} else if l.ours(path) {
				out = append(out, item)
			}
		}
		return out
	}
	return answer
}
