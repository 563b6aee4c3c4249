package render

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/render/hooks"
)

// unusual are the golden cases that a platform has to allow.
var unusual = map[string]string{
	"appservice/disruption-budget-none-unavailable": "a budget that lets no pod go",
	"appservice/ingress-class-and-annotations":      "a snippet",
	"appservice/tolerations":                        "one of every taint",
}

// What the golden cases show is what people write: the built-in default of the policy is for them.
func TestThePolicyByDefaultAllowsTheGoldenCases(t *testing.T) {
	rules := policy.Default().For("demo", nil)
	for _, one := range goldenCases(t) {
		t.Run(one.name, func(t *testing.T) {
			draft, err := one.renderer.Draft(t.Context(), Input{Resource: one.resource, Capabilities: everyKind})
			require.NoError(t, err)
			_, err = one.renderer.Finish(t.Context(), draft, hooks.Facts{Policy: rules})
			var refused *policy.Error
			if errors.As(err, &refused) != (unusual[one.name] != "") {
				t.Errorf("got error %v", err)
			}
		})
	}
}
