package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// KeepsClaims returns an error if a workload is rendered with other claim templates than a live one has, whose list can
// never change; nil if they have the same names. The API server's own message does not say which.
func KeepsClaims(desired *unstructured.Unstructured, live client.Object) *RefusedError {
	path := kube.TraitsOf(desired.GroupVersionKind().GroupKind()).Claims
	if path == nil {
		return nil
	}
	content, full := kube.Content(live)
	if !full {
		return nil
	}
	want, have := ClaimTemplates(desired), ClaimTemplates(&unstructured.Unstructured{Object: content})
	field, added, gone := strings.Join(path, "."), namesBeside(want, have), namesBeside(have, want)
	var words []string
	if len(added) > 0 {
		words = append(words, fmt.Sprintf("cannot get %s", strings.Join(added, ", ")))
	}
	if len(gone) > 0 {
		words = append(words, fmt.Sprintf("cannot lose %s", strings.Join(gone, ", ")))
	}
	if len(words) == 0 {
		return nil
	}
	key := kube.KeyOf(desired)
	return &RefusedError{Why: v1.ReasonImmutableChange, Message: fmt.Sprintf("%s of %s %q %s: set the claims with "+
		"perReplica back (spec.claims, spec.persistence); or delete the %s with "+
		"--cascade=orphan and, once it is there again, its pods one after the other, from the first on: they come back with "+
		"all claims, none of which is deleted (docs/convert-workload.md, for an AppService)", field, key.Kind, key.Name,
		strings.Join(words, " and "), key.Kind)}
}

// namesBeside returns the quoted names of objects that are not among others.
func namesBeside(objects, others []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		if !slices.ContainsFunc(others, named(object.GetName())) {
			names = append(names, fmt.Sprintf("%q", object.GetName()))
		}
	}
	return names
}
