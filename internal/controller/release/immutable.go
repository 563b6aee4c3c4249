package release

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/kube"
)

// immutability describes the fields that the API server never lets change in objects of a kind.
type immutability struct {
	// fixed are the paths of fields, each including all below it.
	fixed []string
	// only are the fields of spec that can change; nil if all can except for the fixed ones.
	only []string
	// sealed are the additional fixed fields of an object that is marked as immutable.
	sealed []string
}

// immutables are the built-in kinds with such fields. The API server decides: this predicts its answer where it is not asked.
var immutables = map[schema.GroupKind]immutability{
	{Group: appsv1.GroupName, Kind: "Deployment"}: {fixed: []string{"spec.selector"}},
	{Group: appsv1.GroupName, Kind: "DaemonSet"}:  {fixed: []string{"spec.selector"}},
	{Group: appsv1.GroupName, Kind: "ReplicaSet"}: {fixed: []string{"spec.selector"}},
	{Group: appsv1.GroupName, Kind: "StatefulSet"}: {only: []string{
		"minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy", "replicas", "revisionHistoryLimit", "template", "updateStrategy",
	}},
	{Group: batchv1.GroupName, Kind: "Job"}: {only: []string{
		"activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend", "ttlSecondsAfterFinished",
	}},
	{Group: corev1.GroupName, Kind: "PersistentVolumeClaim"}: {only: []string{"resources", "volumeAttributesClassName"}},
	{Group: corev1.GroupName, Kind: "Secret"}:                {fixed: []string{"type"}, sealed: []string{"data", "stringData", "immutable"}},
	{Group: corev1.GroupName, Kind: "ConfigMap"}:             {sealed: []string{"data", "binaryData", "immutable"}},
	{Group: rbacv1.GroupName, Kind: "RoleBinding"}:           {fixed: []string{"roleRef"}},
	{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}:    {fixed: []string{"roleRef"}},
}

// Immutable returns why the API server would refuse to replace one rendering of an object by another, in the words of the operator's status;
// nil if no reason is known. A change of a claim template that can be applied to the claims themselves is no reason.
func Immutable(old, rendered *unstructured.Unstructured) *RefusedError {
	kind := rendered.GroupVersionKind().GroupKind()
	rule := immutables[kind]
	for _, d := range Differences(old, withOldTemplates(rendered, old)) {
		if rule.forbids(d.Field, old) || kube.TraitsOf(kind).Grows && shrinks(d) || headless(kind, d, old, rendered) {
			return immutableChange(Change{Desired: rendered, Field: d.Field, Old: d.Old, New: d.New}, d.Field, nil)
		}
	}
	return nil
}

func (i immutability) forbids(field string, old *unstructured.Unstructured) bool {
	fixed := i.fixed
	if sealed, _, _ := unstructured.NestedBool(old.Object, "immutable"); sealed {
		fixed = slices.Concat(fixed, i.sealed)
	}
	if slices.ContainsFunc(fixed, func(path string) bool { return within(field, path) }) {
		return true
	}
	return i.only != nil && within(field, "spec") &&
		!slices.ContainsFunc(i.only, func(name string) bool { return within(field, "spec."+name) })
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

// headless reports whether a Service becomes headless, or ceases to be. One of type ExternalName has no address to keep.
func headless(kind schema.GroupKind, d Difference, old, rendered *unstructured.Unstructured) bool {
	if kind.Group != corev1.GroupName || kind.Kind != "Service" || d.Field != "spec.clusterIP" {
		return false
	}
	for _, object := range []*unstructured.Unstructured{old, rendered} {
		if typ, _, _ := unstructured.NestedString(object.Object, "spec", "type"); typ == string(corev1.ServiceTypeExternalName) {
			return false
		}
	}
	return true
}
