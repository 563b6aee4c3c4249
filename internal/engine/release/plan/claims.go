package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// The PersistentVolumeClaims of a StatefulSet are created by its controller, from templates that never change. Changes
// of the rendered templates are therefore applied to the claims: they count as rendered for as long as they exist. A
// claim that is created from the old templates later differs from the rendered ones, too, and is changed then. Nothing
// has to be recreated, so pods stay, and so does the number of replicas that an autoscaler chose.

// requested is the path of the size in a claim, or in its template.
var requested = []string{"spec", "resources", "requests", "storage"}

// withClaims returns rendered objects and, for each existing claim that was created from a template of one of them,
// the rendered fields. A claim that is being deleted is left to its controller, which creates it again.
func withClaims(rendered []*unstructured.Unstructured, found map[kube.Key]client.Object) []*unstructured.Unstructured {
	all := rendered[:len(rendered):len(rendered)]
	for _, set := range rendered {
		for _, template := range ClaimTemplates(set) {
			prefix := template.GetName() + "-" + set.GetName() + "-"
			var claims []*unstructured.Unstructured
			for key, live := range found {
				if of, _, ok := kube.CutOrdinal(key.Name); !ok || of != prefix || key.Kind != kube.RetainedKind ||
					live.GetDeletionTimestamp() != nil {
					continue
				}
				claim := &unstructured.Unstructured{Object: map[string]any{"spec": template.Object["spec"]}}
				claim.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kube.RetainedKind))
				claim.SetNamespace(set.GetNamespace())
				claim.SetName(key.Name)
				claim.SetLabels(template.GetLabels())
				claim.SetAnnotations(template.GetAnnotations())
				claims = append(claims, claim)
			}
			slices.SortFunc(claims, func(a, b *unstructured.Unstructured) int { return kube.KeyOf(a).Compare(kube.KeyOf(b)) })
			all = append(all, claims...)
		}
	}
	return all
}

// withOldTemplates keeps, in the claim templates of an object, the live values of what can be changed in the claims
// themselves: metadata, and the size if it grows. Anything else stays as it is rendered, so that the API server refuses
// it.
func withOldTemplates(desired *unstructured.Unstructured, live client.Object) *unstructured.Unstructured {
	path := kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Claims
	if path == nil {
		return desired
	}
	content, full := kube.Content(live)
	if !full {
		return desired
	}
	rendered, have := ClaimTemplates(desired), ClaimTemplates(&unstructured.Unstructured{Object: content})
	want := inOrderOf(have, rendered)
	if want == nil {
		return desired
	}
	var kept []any
	same := slices.Equal(want, rendered)
	for i := range want {
		first := lacking("", want[i].Object, have[i].Object)
		same = same && first == nil
		template := have[i].DeepCopy()
		if !becomes(have[i], want[i]) {
			template.Object["spec"] = want[i].DeepCopy().Object["spec"]
		}
		kept = append(kept, template.Object)
	}
	if same {
		return desired
	}
	desired = desired.DeepCopy()
	_ = unstructured.SetNestedField(desired.Object, kept, path...) // the rendered ones were found there
	return desired
}

// inOrderOf returns rendered templates in the order of the live ones, since a list of templates cannot change; nil if
// they have other names.
func inOrderOf(live, rendered []*unstructured.Unstructured) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	rest := slices.Clone(rendered)
	for _, template := range live {
		at := slices.IndexFunc(rest, named(template.GetName()))
		if at < 0 {
			return nil
		}
		list, rest = append(list, rest[at]), slices.Delete(rest, at, at+1)
	}
	if len(rest) > 0 {
		return nil
	}
	return list
}

func named(name string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return object.GetName() == name }
}

// becomes reports whether claims that were created from one template can be changed to match another one. The claims of
// templates without a stamp are not known.
func becomes(old, rendered *unstructured.Unstructured) bool {
	if classOf(old) != classOf(rendered) {
		return false
	}
	before, after := sizeOf(old), sizeOf(rendered)
	if first := lacking("", withoutSize(rendered), withoutSize(old)); first != nil || before == nil || after == nil {
		return false
	}
	order := after.Cmp(*before)
	return order == 0 || order > 0 && StampOf(old) != ""
}

// ClaimTemplates returns the templates from which a workload makes its claims, not copied.
func ClaimTemplates(object *unstructured.Unstructured) []*unstructured.Unstructured {
	path := kube.TraitsOf(object.GroupVersionKind().GroupKind()).Claims
	if path == nil {
		return nil
	}
	templates, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	items, _ := templates.([]any)
	var list []*unstructured.Unstructured
	for _, item := range items {
		if content, ok := item.(map[string]any); ok {
			list = append(list, &unstructured.Unstructured{Object: content})
		}
	}
	return list
}

// classOf returns the storage class that a claim names; a value that differs from all classes if it names none.
func classOf(claim *unstructured.Unstructured) string {
	class, named, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName")
	if !named {
		return "(default)"
	}
	return class
}

func sizeOf(claim *unstructured.Unstructured) *resource.Quantity {
	text, _, _ := unstructured.NestedString(claim.Object, requested...)
	size, err := resource.ParseQuantity(text)
	if err != nil {
		return nil
	}
	return &size
}

// withoutSize returns the spec of a claim without its size.
func withoutSize(claim *unstructured.Unstructured) any {
	spec, _, _ := unstructured.NestedMap(claim.Object, "spec")
	unstructured.RemoveNestedField(spec, requested[1:]...)
	return spec
}
