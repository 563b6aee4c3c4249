package policy

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestNetworkPoliciesNameTheirPeersIfAPlatformWantsIt(t *testing.T) {
	const network = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: web, namespace: demo}\nspec: "
	for name, tc := range map[string]struct{ spec, want string }{
		"everything out":            {"{egress: [{}]}", "spec.egress[0] for everybody: openNetworkPolicies is false: name the peers (default of policy.yaml, over the built-in policy shared)"},
		"everything in by a port":   {"{ingress: [{ports: [{port: 80}]}]}", "spec.ingress[0] for everybody"},
		"an address":                {"{egress: [{to: [{ipBlock: {cidr: 169.254.169.254/32}}]}]}", "spec.egress[0].to[0].ipBlock"},
		"all namespaces":            {"{ingress: [{from: [{podSelector: {}}, {namespaceSelector: {}}]}]}", "spec.ingress[0].from[1].namespaceSelector for all namespaces"},
		"DNS and more of any":       {"{egress: [{ports: [{port: 53}, {port: 443}]}]}", "spec.egress[0]"},
		"a range that begins as it": {"{egress: [{ports: [{port: 53, endPort: 65535}]}]}", "spec.egress[0]"},
		"DNS from everywhere":       {"{ingress: [{ports: [{port: 53}]}]}", "spec.ingress[0]"},
		"DNS":                       {"{egress: [{ports: [{port: 53, protocol: UDP}, {port: 5353, protocol: TCP}]}]}", ""},
		"named peers":               {"{ingress: [{from: [{podSelector: {}}, {namespaceSelector: {matchLabels: {a: b}}}]}]}", ""},
		"nobody":                    {"{policyTypes: [Ingress, Egress]}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []*unstructured.Unstructured{object(t, network+tc.spec)}
			err := rulesOf(t, "default: {openNetworkPolicies: false}", "demo", nil).Check(objects)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
		})
	}
}
