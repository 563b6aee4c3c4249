package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// Eviction returns the JSON patch by which the operator takes over what others added. It removes the stamp: if the
// apply that removes the fields never follows, the missing stamp shows that it is still due. Another
// stamp shows that anyway, and stays: generations of Deployments count annotations.
func Eviction(live *unstructured.Unstructured, rendered string) ([]byte, error) {
	exclusive := kube.TraitsOf(live.GroupVersionKind().GroupKind()).Exclusive
	fields, part := fieldpath.NewSet(), any(live.Object)
	var path fieldpath.Path
	for i := range exclusive {
		content, _ := part.(map[string]any)
		part, path = content[exclusive[i]], append(path, fieldpath.PathElement{FieldName: &exclusive[i]})
	}
	insertAll(fields, path, exclusiveOf(live), part)
	changes := []map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": kube.Evict(live, fields)},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	}
	if StampOf(live) != "" && StampOf(live) == rendered {
		changes = append(changes, map[string]any{"op": "remove",
			"path": "/metadata/annotations/" + strings.ReplaceAll(postrender.AnnotationStamp, "/", "~1")})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
	}
	return patch, nil
}

// insertAll inserts the fields of a value as the API server tracks them: leaves, and items of lists that it merges. At
// is the path as in the comparison. Requests to restart are left out.
func insertAll(fields *fieldpath.Set, path fieldpath.Path, at string, part any) {
	switch part := part.(type) {
	case map[string]any:
		for key, below := range part {
			if !isRestart(at+"."+key, below) {
				insertAll(fields, append(path.Copy(), fieldpath.PathElement{FieldName: &key}), at+"."+key, below)
			}
		}
		if len(part) > 0 {
			return
		}
	case []any:
		if keys := keysFor(at); keys != nil && allMaps(part) {
			for _, item := range part {
				content := item.(map[string]any)
				element := append(path.Copy(), fieldpath.PathElement{Key: keyFields(content, keys)})
				fields.Insert(element)
				insertAll(fields, element, fmt.Sprintf("%s[%v]", at, content[keys[0]]), content)
			}
			return
		}
	}
	fields.Insert(path.Copy())
}

// keyFields returns by what the API server finds an item of a list.
func keyFields(item map[string]any, keys []string) *value.FieldList {
	list := value.FieldList{}
	for _, key := range keys {
		list = append(list, value.Field{Name: key, Value: value.NewValueInterface(keyOf(item, key))})
	}
	list.Sort()
	return &list
}
