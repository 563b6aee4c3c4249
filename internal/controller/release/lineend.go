package release

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

// withOldLineEnds keeps, in what can never change of a Job or of an object marked as immutable, live texts that differ
// from the rendered ones only by white space at their end: earlier operators left out the last line end of a document.
func withOldLineEnds(desired *unstructured.Unstructured, live client.Object) *unstructured.Unstructured {
	content, full := kube.Content(live)
	if !full || !isSealed(desired) {
		return desired
	}
	rule := kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Immutable
	old := &unstructured.Unstructured{Object: content}
	kept := map[string]any{}
	for field, value := range desired.Object {
		have := content[field]
		if field == "stringData" {
			have = content["data"] // as the API server stores it
		}
		kept[field] = oldEnds(field, value, have, func(path string) bool { return forbids(rule, path, old) })
	}
	if first := lacking("", kept, desired.Object); first == nil {
		return desired
	}
	return &unstructured.Unstructured{Object: kept}
}

// isSealed reports whether most of an object can never change.
func isSealed(object *unstructured.Unstructured) bool {
	sealed, _, _ := unstructured.NestedBool(object.Object, "immutable")
	return sealed || kube.KeyOf(object).GroupKind == job
}

// oldEnds returns a value with the live texts at the paths that are fixed.
func oldEnds(path string, want, have any, fixed func(path string) bool) any {
	switch want := want.(type) {
	case map[string]any:
		out, content := make(map[string]any, len(want)), asMap(have)
		for key, value := range want {
			out[key] = oldEnds(path+"."+key, value, content[key], fixed)
		}
		return out
	case []any:
		list, _ := have.([]any)
		if len(list) != len(want) {
			return want
		}
		out := make([]any, len(want))
		for i, value := range want {
			out[i] = oldEnds(fmt.Sprintf("%s[%d]", path, i), value, list[i], fixed)
		}
		return out
	case string:
		text, _ := have.(string)
		if strings.HasPrefix(path, "stringData.") {
			data, _ := base64.StdEncoding.DecodeString(text)
			text = string(data)
		}
		if text != "" && fixed(path) && trimmed(want) == trimmed(text) {
			return text
		}
	}
	return want
}

// trimmed returns a text, which may be the content of a Secret, without white space at its end.
func trimmed(text string) string {
	if data, err := base64.StdEncoding.DecodeString(text); err == nil {
		text = string(data)
	}
	return strings.TrimRightFunc(text, unicode.IsSpace)
}

func asMap(value any) map[string]any {
	content, _ := value.(map[string]any)
	return content
}

// mutable returns a change with the old line ends if it is of a sealed object, and only its metadata are known.
func (a *applier) mutable(ctx context.Context, change Change) (Change, error) {
	if change.Live == nil || !kube.IsOutline(change.Live) || !isSealed(change.Desired) {
		return change, nil
	}
	whole := identity(change.Live)
	if err := a.live.Get(ctx, client.ObjectKeyFromObject(whole), whole); err != nil {
		return change, fmt.Errorf("cannot read %s: %w", kube.KeyOf(whole), err)
	}
	change.Desired = withOldLineEnds(change.Desired, whole)
	return change, nil
}
