package integration

import (
	"testing"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
)

func stateOf(t *testing.T, app *v1.AppService) map[string]any {
	t.Helper()
	state, err := endstate.Of(t.Context(), cluster.Client, app)
	if err != nil {
		t.Fatal(err)
	}
	return state
}
