package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// evict makes the operator the owner of all fields that belong to it as a whole, whoever added them, and returns the
// object: the next apply removes what is not rendered. Otherwise a mixture of two pod templates would run after an
// undone rollout. Fields that admission added return with that apply.
func (a *applier) evict(ctx context.Context, change Change) (*unstructured.Unstructured, error) {
	for attempt := 1; ; attempt++ {
		live := identity(change.Live)
		err := a.live.Get(ctx, client.ObjectKeyFromObject(live), live)
		switch {
		case apierrors.IsNotFound(err), err == nil && !sameContent(change.Live, live):
			return nil, &StaleError{errors.New(kube.KeyOf(change.Desired).String() + " has changed")}
		case err != nil:
			return nil, fmt.Errorf("cannot read %s: %w", kube.KeyOf(change.Desired), err)
		}
		patch, err := eviction(live, stampOf(change.Desired))
		if err != nil {
			return nil, err
		}
		err = a.session.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager))
		if err == nil {
			return live, nil
		}
		if !apierrors.IsConflict(err) || attempt == statusRaces { // controllers of pods write the status often
			return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
		}
	}
}

// sameContent reports whether an object has the content that was compared, ignoring its status.
func sameContent(compared client.Object, live *unstructured.Unstructured) bool {
	return compared.GetUID() == live.GetUID() && compared.GetResourceVersion() == live.GetResourceVersion() ||
		kube.SameGeneration(compared, live)
}

// eviction returns the JSON patch by which the operator takes over what others added. It removes the stamp: if the
// apply that removes the fields never follows, the missing stamp shows that it is still due. Another
// stamp shows that anyway, and stays: generations of Deployments count annotations.
func eviction(live *unstructured.Unstructured, rendered string) ([]byte, error) {
	whole := kube.TraitsOf(live.GroupVersionKind().GroupKind()).Whole
	fields, there := fieldpath.NewSet(), any(live.Object)
	var path fieldpath.Path
	for i := range whole {
		content, _ := there.(map[string]any)
		there, path = content[whole[i]], append(path, fieldpath.PathElement{FieldName: &whole[i]})
	}
	insertAll(fields, path, wholeOf(live), there)
	changes := []map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": kube.Evict(live, fields)},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	}
	if stampOf(live) != "" && stampOf(live) == rendered {
		changes = append(changes, map[string]any{"op": "remove",
			"path": "/metadata/annotations/" + strings.ReplaceAll(hooks.AnnotationStamp, "/", "~1")})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
	}
	return patch, nil
}

// insertAll inserts the fields of a value as the API server tracks them: leaves, and items of lists that it merges. At
// is the path as in the comparison. Requests to restart are left out.
func insertAll(fields *fieldpath.Set, path fieldpath.Path, at string, there any) {
	switch there := there.(type) {
	case map[string]any:
		for key, below := range there {
			if !isRestart(at+"."+key, below) {
				insertAll(fields, append(path.Copy(), fieldpath.PathElement{FieldName: &key}), at+"."+key, below)
			}
		}
		if len(there) > 0 {
			return
		}
	case []any:
		if keys := keysFor(at); keys != nil && allMaps(there) {
			for _, item := range there {
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
