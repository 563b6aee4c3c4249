//go:build cluster

package walk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/test/specs"
)

func quantity(hundreds int64) *resource.Quantity {
	return resource.NewMilliQuantity(hundreds*100, resource.DecimalSI)
}

// editLeaf changes one value that the operator wrote, whichever kind of object and field it is. Immutable values stay.
func editLeaf(ctx context.Context, w *walker, choice uint64) (string, error) {
	object, err := w.pick(ctx, choice)
	if object == nil || err != nil || object.GetKind() == "PersistentVolumeClaim" {
		return "", err // a claim grows and never shrinks
	}
	owned := map[string]any{}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == release.FieldManager && entry.FieldsV1 != nil {
			if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned); err != nil {
				return "", err
			}
		}
	}
	paths := leaves(owned, object.Object, nil)
	if w.spec["autoscaling"] != nil {
		paths = slices.DeleteFunc(paths, func(path []string) bool { return strings.Join(path, ".") == "spec.replicas" })
	}
	if len(paths) == 0 {
		return "", nil
	}
	path := paths[choice/64%uint64(len(paths))]
	patch, err := json.Marshal(nested(path, other(lookup(object.Object, path))))
	if err != nil {
		return "", err
	}
	err = cluster.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("somebody"))
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) {
		return "", nil
	}
	return object.GetKind() + " " + string(patch), err
}

// leaves lists the scalars below maps that a set of managed fields has.
func leaves(owned, content map[string]any, prefix []string) [][]string {
	var paths [][]string
	for _, key := range specs.SortedKeys(owned) {
		name, isField := strings.CutPrefix(key, "f:")
		if !isField || len(prefix) == 0 && name != "spec" && name != "data" {
			continue
		}
		path := append(slices.Clone(prefix), name)
		fields, _ := owned[key].(map[string]any)
		switch value := content[name].(type) {
		case map[string]any:
			paths = append(paths, leaves(fields, value, path)...)
		case string, int64, bool:
			paths = append(paths, path)
		}
	}
	return paths
}

func lookup(content any, path []string) any {
	for _, name := range path {
		content = content.(map[string]any)[name]
	}
	return content
}

func nested(path []string, value any) any {
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	return value
}

// other is another value of the type.
func other(value any) any {
	switch value := value.(type) {
	case bool:
		return !value
	case int64:
		return value + 1
	}
	return "Zm9yZWln" // in a Secret, too
}

// undo is kubectl rollout undo: it puts the template of the ReplicaSet before the newest into the Deployment, and its annotations,
// with the JSON patch that kubectl sends (k8s.io/kubectl/pkg/polymorphichelpers, which needs modules that nothing else here does).
func undo(ctx context.Context, w *walker, _ uint64) (string, error) {
	deployment := &appsv1.Deployment{}
	if err := w.get(ctx, deployment); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	before, err := previousOf(ctx, deployment)
	if before == nil || err != nil {
		return "", err
	}
	template := before.Spec.Template.DeepCopy()
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	if apiequality.Semantic.DeepEqual(*template, deployment.Spec.Template) {
		return "", nil
	}
	annotations := map[string]string{}
	for key, value := range deployment.Annotations {
		if keptByUndo[key] {
			annotations[key] = value
		}
	}
	for key, value := range before.Annotations {
		if !keptByUndo[key] {
			annotations[key] = value
		}
	}
	patch, err := json.Marshal([]any{
		map[string]any{"op": "replace", "path": "/spec/template", "value": template},
		map[string]any{"op": "replace", "path": "/metadata/annotations", "value": annotations},
	})
	if err != nil {
		return "", err
	}
	err = cluster.Client.Patch(ctx, deployment, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner("kubectl-rollout"))
	return fmt.Sprintf("to revision %d", revision(before)), err
}

// keptByUndo are the annotations of the Deployment that kubectl does not take from the ReplicaSet.
var keptByUndo = map[string]bool{
	"kubectl.kubernetes.io/last-applied-configuration": true, "deployment.kubernetes.io/revision": true,
	"deployment.kubernetes.io/revision-history": true, "deployment.kubernetes.io/desired-replicas": true,
	"deployment.kubernetes.io/max-replicas": true, "deprecated.deployment.rollback.to": true,
}

func previousOf(ctx context.Context, deployment *appsv1.Deployment) (*appsv1.ReplicaSet, error) {
	list := &appsv1.ReplicaSetList{}
	if err := cluster.Client.List(ctx, list, client.InNamespace(deployment.Namespace)); err != nil {
		return nil, err
	}
	sets := slices.DeleteFunc(list.Items, func(set appsv1.ReplicaSet) bool { return !metav1.IsControlledBy(&set, deployment) })
	slices.SortFunc(sets, func(a, b appsv1.ReplicaSet) int { return revision(&b) - revision(&a) })
	if len(sets) < 2 {
		return nil, nil
	}
	return &sets[1], nil
}

func revision(set *appsv1.ReplicaSet) int {
	var number int
	_, _ = fmt.Sscan(set.Annotations["deployment.kubernetes.io/revision"], &number) // without one it is the oldest
	return number
}
