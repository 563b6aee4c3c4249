package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// identity are the fields by which an object is known.
var identity = []string{"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.creationTimestamp",
	"metadata.deletionTimestamp"}

// Shown returns a copy of an object for people who may not see all of it: the texts that events show, too; of the
// others their size, as in "(12 characters)". Managed fields are left out.
func Shown(object *unstructured.Unstructured) map[string]any {
	out, _ := shown(object, "", object.Object).(map[string]any)
	return out
}

func shown(object client.Object, field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, one := range value {
			path := key
			if field != "" {
				path = field + "." + key
			}
			if path != "metadata.managedFields" {
				out[key] = shown(object, path, one)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, one := range value {
			out[i] = shown(object, fmt.Sprintf("%s[%d]", field, i), one)
		}
		return out
	case nil:
		return nil
	}
	if slices.Contains(identity, field) || harmless(object, field, value) {
		return value
	}
	return fmt.Sprintf("(%d characters)", len([]rune(fmt.Sprint(value))))
}
