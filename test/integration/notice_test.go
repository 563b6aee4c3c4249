//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/controlplane"
)

// A status waits for the Deployment controller, so that it is written once. Without that, it is written nevertheless, and
// never says that a release is Ready which nobody has observed. It runs alone, since others need the controllers.
func TestAStatusIsWrittenWithoutAControllerManager(t *testing.T) {
	if current, err := controlplane.CurrentWanted(); current || err != nil {
		require.NoError(t, err)
		return // not our control plane
	}
	app := harness.Seed(cluster.Namespace(t), "web")
	app.Spec.Size = ptr.To[int32](0)
	cluster.Manager(t, app.Namespace)
	cluster.CreateReady(t, app)
	require.NoError(t, cluster.Without(t.Context(), "kube-controller-manager", func() {
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.30" })
		cluster.Becomes(t, "its status is that of the change, and not Ready", app, func() error {
			ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
			switch {
			case ready == nil || app.Status.ObservedGeneration != app.Generation:
				return fmt.Errorf("the status is of generation %d, want %d", app.Status.ObservedGeneration, app.Generation)
			case ready.Status == "True":
				return errors.New("it is Ready, and nobody has observed its Deployment")
			}
			return nil
		})
	}))
	cluster.Ready(t, app)
	require.Equal(t, app.Generation, app.Status.ObservedGeneration)
}
