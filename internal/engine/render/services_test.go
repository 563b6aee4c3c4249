package render

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// Each Service is held against the platform's policy, not only the first one.
func TestThePolicyHoldsForFurtherServices(t *testing.T) {
	for _, one := range goldenCases(t) {
		if one.name != "appservice/services-further" {
			continue
		}
		for rules, want := range map[string]string{
			"{serviceTypes: [ClusterIP, NodePort]}": `Service "shop-public": spec.type LoadBalancer: serviceTypes allows`,
			"{nodePorts: [30080]}":                  `Service "shop-public": spec.ports[0].nodePort 30443: nodePorts allows`,
			"{loadBalancerClasses: []}":             `Service "shop-public": spec.loadBalancerClass example.com/internal: loadBalancerClasses`,
			"{serviceTypes: ['*']}":                 "",
		} {
			read, err := policy.Read("policy.yaml", []byte("builtIn: open\ndefault: "+rules))
			require.NoError(t, err)
			draft, err := one.renderer.Draft(t.Context(), Input{Resource: one.resource, Capabilities: everyKind})
			require.NoError(t, err)
			_, err = one.renderer.Finish(t.Context(), draft, postrender.Facts{Policy: read.For("demo", nil)})
			if want == "" {
				assert.NoError(t, err, rules)
			} else {
				assert.ErrorContains(t, err, want, rules)
			}
		}
		return
	}
	t.Fatal("there is no case of further Services")
}
