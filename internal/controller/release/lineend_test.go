package release

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
)

// Objects that can never change keep their texts without the line end, and are neither refused nor repaired for it.
func TestWhatIsSealedKeepsItsLineEnds(t *testing.T) {
	sealed := func(kind, stamp, field, text string) *unstructured.Unstructured {
		o := owned(t, kind, "web", stamp)
		put(t, o, true, "immutable")
		put(t, o, map[string]any{"run.sh": text}, field)
		return o
	}
	live := sealed("ConfigMap", "one", "data", "echo one")
	again := sealed("ConfigMap", "two", "data", "echo one\n")
	plan := Compare([]*unstructured.Unstructured{again}, there(live))
	require.Len(t, plan.Apply, 1)
	require.Equal(t, "apply ConfigMap web", plan.String(), "only its stamp differs")
	live = sealed("ConfigMap", "two", "data", "echo one")
	require.True(t, Compare([]*unstructured.Unstructured{again}, there(live)).Empty(), "it is not drift")
	require.Equal(t, "apply ConfigMap web: data.run.sh", Compare([]*unstructured.Unstructured{sealed("ConfigMap", "two", "data", "echo two\n")},
		there(live)).String())

	for name, desired := range map[string]*unstructured.Unstructured{
		"data":       sealed("Secret", "two", "data", "ZWNobyBvbmUK"),
		"stringData": sealed("Secret", "two", "stringData", "echo one\n"),
	} {
		t.Run("of a Secret, whose metadata alone are known: "+name, func(t *testing.T) {
			s := newServer(t, sealed("Secret", "one", "data", "ZWNobyBvbmU="))
			applier, _ := newApplier(t, s, s)
			written := s.has(t, desired)
			metadata := kube.Metadata(desired.GroupVersionKind())
			metadata.SetNamespace(written.GetNamespace())
			metadata.SetName(written.GetName())
			metadata.SetUID(written.GetUID())
			metadata.SetResourceVersion(written.GetResourceVersion())
			change, err := applier.mutable(t.Context(), Change{Desired: desired, Live: metadata})
			require.NoError(t, err)
			want := map[string]string{"data": "ZWNobyBvbmU=", "stringData": "echo one"}[name]
			got, _, _ := unstructured.NestedString(change.Desired.Object, name, "run.sh")
			require.Equal(t, want, got)
			_, err = applier.apply(t.Context(), Change{Desired: desired, Live: metadata})
			require.NoError(t, err)
			require.True(t, slices.Contains(s.log, "apply Secret web by force"))
		})
	}
}
