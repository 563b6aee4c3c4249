package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAFileThatCannotBeUsedIsRefusedWithLines(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"no YAML":                         {"default:\n  hosts: [a", "policy.yaml:"},
		"an unknown rule":                 {"default:\n  annotatons: {}", "policy.yaml:2: default.annotatons is not known: did you mean annotations?"},
		"an unknown part":                 {"defaults: {}", "policy.yaml:1: defaults is not known: did you mean default?"},
		"a rule twice":                    {"default:\n  hosts: []\n  hosts: []", "policy.yaml:"},
		"a text for a list":               {"default:\n  hosts: a.example.com", "policy.yaml:2: default.hosts: must be a list; [] allows nothing"},
		"nothing for a list":              {"default:\n  hosts:", "policy.yaml:2: default.hosts: must be a list"},
		"a list for a map":                {"default: []", "policy.yaml:1: default: must be a map"},
		"a text for a boolean":            {"default: {podTemplate: maybe}", "policy.yaml:1: default.podTemplate: must be a boolean: true or false, not maybe"},
		"a negative number":               {"default: {maxReplicas: -1}", "default.maxReplicas: must be a whole number, at least 0, not -1"},
		"no quantity":                     {"default: {maxStorage: much}", "default.maxStorage: must be a quantity, such as 10Gi"},
		"no host":                         {"default: {hosts: [https://a.example.com]}", "default.hosts[0]: \"https://a.example.com\" is not a host"},
		"a wildcard within a host":        {"default: {hosts: [a.*.example.com]}", "default.hosts[0]: \"a.*.example.com\" is not a host"},
		"an unknown type of Services":     {"default: {serviceTypes: [NodePorts]}", "default.serviceTypes[0]: NodePorts is not known: did you mean NodePort?"},
		"an unknown type of volumes":      {"default: {volumeTypes: [configmap]}", "default.volumeTypes[0]: configmap is not known: did you mean configMap?"},
		"no port":                         {"default: {nodePorts: [0]}", "default.nodePorts[0]: \"0\" is neither a port nor a range"},
		"a range from its end":            {"default: {nodePorts: [30100-30000]}", "neither a port nor a range"},
		"no network":                      {"default: {externalIPs: [192.0.2.0/33]}", "neither an address nor a network"},
		"a URL for a registry":            {"default: {registries: [https://ghcr.io]}", "is not a registry"},
		"a regular expression":            {"default: {priorityClasses: [\"a[bc]\"]}", "default.priorityClasses[0]: \"a[bc]\" is not a pattern"},
		"what lies beneath in the end":    {"default: {priorityClasses: [a, \"+\"]}", "must come first"},
		"a list that only refuses":        {"default: {priorityClasses: [\"!system-*\"]}", "the list allows nothing"},
		"an entry for no namespace":       {"namespaces:\n- names: [a]\n- hosts: []", "policy.yaml:3: namespaces[1]: applies to no namespace"},
		"a selector that selects wrongly": {"namespaces:\n- selector: {matchExpressions: [{key: a, operator: Is}]}", "policy.yaml:2: namespaces[0].selector:"},
		"an unknown key of a selector":    {"namespaces:\n- selector: {matchLabel: {a: b}}", "namespaces[0].selector.matchLabel is not known: did you mean matchLabels?"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read("policy.yaml", []byte(tc.text))
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestAFileMaySayNothing(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "a comment": "# nothing", "empty parts": "default: {}\nnamespaces: []", "nothing at all": "default:\nnamespaces: []"} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read("policy.yaml", []byte(text)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllMistakesAreShownAtOnce(t *testing.T) {
	_, err := Read("policy.yaml", []byte("default:\n  hots: []\n  podTemplate: 1\n"))
	if err == nil || !strings.Contains(err.Error(), "policy.yaml:2:") || !strings.Contains(err.Error(), "policy.yaml:3:") {
		t.Errorf("got %v, want both lines", err)
	}
}
