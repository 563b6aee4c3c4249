package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example/appservice-operator/internal/kube/reference"
)

// The version of a configuration changes whenever its digest does, and who does not know the record cannot compute it.
func TestTheVersionOfAConfiguration(t *testing.T) {
	resource := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "of-the-resource", Generation: 1}}
	first := Configuration(resource, nil, "a")
	require.Equal(t, first.Version, Configuration(resource, nil, "b").Version, "the first one says nothing of the configuration")
	require.Empty(t, validation.IsValidLabelValue(reference.Content{Digest: "0123456789abcdef0123456789abcdef", Version: first.Version}.String()))

	record := &Record{UID: "one", Configuration: first.String()}
	require.Equal(t, first, Configuration(resource, record, "a"), "the same configuration keeps its version")
	second := Configuration(resource, record, "b")
	require.NotEqual(t, first.Version, second.Version)
	require.NotEqual(t, second.Version, Configuration(resource, &Record{UID: "two", Configuration: first.String()}, "b").Version, "it depends on the record")
	require.NotEqual(t, second.Version, Configuration(resource, record, "c").Version)
	again := Configuration(resource, &Record{UID: "two", Configuration: second.String()}, "a")
	require.NotEqual(t, first.Version, again.Version, "that an earlier configuration is back does not show")

	require.Zero(t, Configuration(resource, record, ""))
	require.NotEqual(t, "a", Configuration(resource, &Record{UID: "of-an-earlier-operator"}, "a").Version)
}
