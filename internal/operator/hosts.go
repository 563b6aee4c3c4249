package operator

import (
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/policy"
)

// hostRules are the rules of the platform's policy about hosts.
type hostRules struct {
	policy *policy.Current
	// labels returns the labels of a namespace, as far as they are known.
	labels func(namespace string) map[string]string
}

var _ hosts.Rules = hostRules{}

func (r hostRules) of(namespace string) policy.Rules {
	now := r.policy.Get()
	if !now.Selects() {
		return now.For(namespace, nil)
	}
	return now.For(namespace, r.labels(namespace))
}

// Refused implements hosts.Rules.
func (r hostRules) Refused(namespace string, route kube.Key, claim hosts.Claim) error {
	may, why := r.of(namespace).MayUse(claim.Host)
	if may {
		return nil
	}
	return &policy.Error{Violations: []policy.Violation{{Kind: route.Kind, Name: route.Name, Path: "host", Value: claim.HostOrAll(), Why: why}}}
}

// Granted implements hosts.Rules.
func (r hostRules) Granted(namespace, host string) bool { return r.of(namespace).Grants(host) }

// Shared implements hosts.Rules.
func (r hostRules) Shared(namespace, host string) bool { return r.of(namespace).Shares(host) }
