package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Immutable returns why the API server would refuse to replace one rendering of an object by another, in the words of
// the operator's status; nil if no reason is known. A change of a claim template that can be applied to the claims
// themselves is no reason.
func Immutable(old, rendered *unstructured.Unstructured) *RefusedError {
	kind := rendered.GroupVersionKind().GroupKind()
	traits := kube.TraitsOf(kind)
	if refused := KeepsClaims(rendered, old); refused != nil {
		return refused
	}
	for _, d := range Differences(old, withOldTemplates(rendered, old)) {
		if forbids(traits.Immutable, d.Field, old) || traits.Grows && shrinks(d) || headless(kind, d, old, rendered) {
			d = d.Redacted()
			return ImmutableChange(Change{Desired: rendered, Field: d.Field, Old: d.Old, New: d.New}, d.Field, nil)
		}
	}
	return nil
}

func forbids(rule kube.Immutable, field string, old *unstructured.Unstructured) bool {
	fixed := rule.Fixed
	if sealed, _, _ := unstructured.NestedBool(old.Object, "immutable"); sealed {
		fixed = slices.Concat(fixed, rule.Sealed)
	}
	if slices.ContainsFunc(fixed, func(path string) bool { return within(field, path) }) {
		return true
	}
	return rule.Only != nil && within(field, "spec") &&
		!slices.ContainsFunc(rule.Only, func(name string) bool { return within(field, "spec."+name) })
}

// within reports whether a field is at a path or below it.
func within(field, path string) bool {
	rest, below := strings.CutPrefix(field, path)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[' || rest[0] == ' ')
}

// shrinks reports whether a difference makes a claim smaller.
func shrinks(d Difference) bool {
	if d.Field != strings.Join(requested, ".") {
		return false
	}
	before, err := resource.ParseQuantity(d.Old)
	after, wrong := resource.ParseQuantity(d.New)
	return err == nil && wrong == nil && after.Cmp(before) < 0
}

// headless reports whether a Service becomes headless, or ceases to be. One of type ExternalName has no address to
// keep.
func headless(kind schema.GroupKind, d Difference, old, rendered *unstructured.Unstructured) bool {
	if kind.Group != corev1.GroupName || kind.Kind != "Service" || d.Field != "spec.clusterIP" {
		return false
	}
	for _, object := range []*unstructured.Unstructured{old, rendered} {
		if typ, _, _ := unstructured.NestedString(object.Object, "spec",
			"type"); typ == string(corev1.ServiceTypeExternalName) {
			return false
		}
	}
	return true
}
