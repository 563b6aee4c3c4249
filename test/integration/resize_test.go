//go:build cluster

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

// A VerticalPodAutoscaler resizes pods, and leaves their Deployment as it is.
func TestAPodThatIsResizedInPlaceStays(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}
	cluster.CreateReady(t, app)
	before := podsOf(t, namespace)
	require.NotEmpty(t, before)
	for name := range before {
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = namespace, name
		// As a kubelet says that it can resize the container; that of simulated nodes does not.
		can := client.RawPatch(types.StrategicMergePatchType,
			[]byte(`{"status": {"containerStatuses": [{"name": "app", "resources": {"requests": {"cpu": "100m"}}}]}}`))
		require.NoError(t, cluster.Client.Status().Patch(t.Context(), pod, can))
		larger := client.RawPatch(types.StrategicMergePatchType,
			[]byte(`{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "200m"}}}]}}`))
		require.NoError(t, cluster.Client.SubResource("resize").Patch(t.Context(), pod, larger))
		assert.Equal(t, "200m", pod.Spec.Containers[0].Resources.Requests.Cpu().String())
	}
	manager.Rest(t)
	assert.Equal(t, before, podsOf(t, namespace))
	assert.Empty(t, repairsOf(t, namespace))
	cluster.Ready(t, app)
}
