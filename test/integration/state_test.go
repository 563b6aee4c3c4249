//go:build cluster

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
)

// stateOf returns the status of an AppService and its objects. Those come from a cache: reading every kind from the API server again and again
// would overload it.
func stateOf(t *testing.T, objects client.Reader, app *v1.AppService) map[string]any {
	t.Helper()
	state, err := endstate.Of(t.Context(), cluster.Client, objects, app)
	require.NoError(t, err)
	return state
}
