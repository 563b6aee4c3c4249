package plan

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// AsFarAsMutable returns a rendered object without the intended differences from the live one that cannot be applied.
func AsFarAsMutable(desired *unstructured.Unstructured, live client.Object) *unstructured.Unstructured {
	return withOldTemplates(withGrowth(desired, live), live)
}

// withGrowth keeps in a claim the size that another writer set since it was rendered: a claim cannot shrink. A size
// from a later rendering is left unchanged, so that the API server may refuse it.
func withGrowth(desired *unstructured.Unstructured, live client.Object) *unstructured.Unstructured {
	if !kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Grows || StampOf(desired) != StampOf(live) {
		return desired
	}
	claim, _ := kube.Content(live)
	wanted, _, _ := unstructured.NestedString(desired.Object, requested...)
	have, _, _ := unstructured.NestedString(claim, requested...)
	rendered, err := resource.ParseQuantity(wanted)
	if err != nil {
		return desired
	}
	grown, err := resource.ParseQuantity(have)
	if err != nil || grown.Cmp(rendered) <= 0 {
		return desired
	}
	desired = desired.DeepCopy()
	_ = unstructured.SetNestedField(desired.Object, have, requested...) // wanted was found there
	return desired
}
