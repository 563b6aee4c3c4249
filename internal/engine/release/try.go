package release

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// tried returns the result of a change, by a dry run.
func (a *applier) tried(ctx context.Context, change plan.Change) (*unstructured.Unstructured, error) {
	traits := kube.TraitsOf(kube.KeyOf(change.Desired).GroupKind)
	if traits.Exclusive == nil {
		return a.apply(ctx, change, client.DryRunAll)
	}
	live, _ := change.Live.(*unstructured.Unstructured)
	after := identity(live)
	err := a.versioned(ctx, live, func(version string) error {
		body, err := plan.Replacement(change.Desired, live, version, traits.Exclusive)
		if err != nil {
			return err
		}
		return a.session.Try(ctx, after, client.RawPatch(types.JSONPatchType, body), client.FieldOwner(FieldManager))
	})
	if err != nil {
		return nil, a.explain(ctx, change, fmt.Errorf("%s: %w", kube.KeyOf(change.Desired), err))
	}
	return after, nil
}

// ends lists the fields that would change in the pods of a workload, and how many pods would be removed.
func ends(change plan.Change, after *unstructured.Unstructured) (list []string) {
	path := plan.TemplateOfRunning(change.Desired)
	if path == nil {
		return nil
	}
	live, _ := change.Live.(*unstructured.Unstructured)
	key := kube.KeyOf(live)
	for _, difference := range plan.Differences(only(live, path), only(after, path)) {
		text, _, _ := strings.Cut(difference.Redacted().String(), ";")
		list = append(list, fmt.Sprintf("%s: its pods would restart: %s", key, text))
	}
	have, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if want, rendered, _ := unstructured.NestedInt64(change.Desired.Object, "spec", "replicas"); rendered && want < have {
		list = append(list, fmt.Sprintf("%s: %d of its pods would end: spec.replicas %d → %d", key, have-want, have, want))
	}
	return list
}

// only returns an object that has only the value at a path.
func only(object *unstructured.Unstructured, path []string) *unstructured.Unstructured {
	out := identity(object)
	if value, found, _ := unstructured.NestedFieldCopy(object.Object, path...); found {
		_ = unstructured.SetNestedField(out.Object, value, path...) // out has nothing else
	}
	return out
}
