package policy

import (
	"fmt"
	"slices"
)

// dns are the ports of a rule that everybody needs, to find names.
var dns = []any{int64(53), int64(5353)}

// networkPolicy refuses rules that let pods reach, or be reached by, whoever the rule does not name by namespaces and
// labels: rules add to those of the platform.
func (c *check) networkPolicy() {
	if *c.OpenNetworkPolicies {
		return
	}
	for i, rule := range c.list("spec", "ingress") {
		c.peers(fmt.Sprintf("spec.ingress[%d]", i), rule, "from")
	}
	for i, rule := range c.list("spec", "egress") {
		c.peers(fmt.Sprintf("spec.egress[%d]", i), rule, "to")
	}
}

func (c *check) peers(path string, item any, side string) {
	open := func(path, value, instead string) {
		c.refuse(path, value, "openNetworkPolicies", "is false: "+instead, true)
	}
	rule, _ := item.(map[string]any)
	peers, _ := rule[side].([]any)
	if len(peers) == 0 && (side == "from" || !onlyDNS(rule)) {
		open(path, "for everybody", "name the peers")
	}
	for i, peer := range peers {
		at := fmt.Sprintf("%s.%s[%d]", path, side, i)
		fields, _ := peer.(map[string]any)
		if _, there := fields["ipBlock"]; there {
			open(at+".ipBlock", "", "name peers by namespaces and labels")
		}
		if selector, is := fields["namespaceSelector"].(map[string]any); is && len(selector) == 0 {
			open(at+".namespaceSelector", "for all namespaces", "name the namespaces")
		}
	}
}

func onlyDNS(rule map[string]any) bool {
	ports, _ := rule["ports"].([]any)
	return len(ports) > 0 && !slices.ContainsFunc(ports, func(item any) bool {
		port, _ := item.(map[string]any)
		_, isRange := port["endPort"]
		return isRange || !slices.Contains(dns, port["port"])
	})
}
