package status

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

func TestAPolicyThatShutsOutControllersIsTold(t *testing.T) {
	ingress := schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	route := schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}
	monitor := schema.GroupKind{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}
	const (
		shop   = `{podSelector: {matchLabels: {app.kubernetes.io/name: appservice, app.kubernetes.io/instance: shop}}}`
		closed = `{policyTypes: [Ingress], ingress: [{from: [` + shop + `]}]}`
	)
	cases := map[string]struct {
		policy string // the spec of it, "before " in front for one of that stage
		beside schema.GroupKind
		told   string
	}{
		"an Ingress and AppServices of the namespace": {closed, ingress, "Ingress web"},
		"a route":                            {closed, route, "HTTPRoute web"},
		"a monitor":                          {closed, monitor, "ServiceMonitor web"},
		"nobody at all":                      {`{policyTypes: [Ingress]}`, ingress, "Ingress web"},
		"nobody at all, for a task":          {`before {policyTypes: [Ingress]}`, ingress, ""},
		"nothing that others act on":         {closed, schema.GroupKind{Kind: "Service"}, ""},
		"everybody":                          {`{policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]}`, ingress, ""},
		"another namespace":                  {`{policyTypes: [Ingress], ingress: [{from: [` + shop + `]}, {from: [` + shop + `, {namespaceSelector: {}}]}]}`, ingress, ""},
		"an AppService of another namespace": {`{policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app.kubernetes.io/instance: a}}}]}]}`, ingress, ""},
		"addresses":                          {`{policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24}}]}]}`, ingress, ""},
		"other pods of the namespace, such as a gateway's":  {`{policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {a: b}}}]}]}`, route, ""},
		"any pods of the namespace":                         {`{policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}]}]}`, route, ""},
		"a policy that limits only whom the pods may reach": {`{policyTypes: [Egress]}`, ingress, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			policy := &networkingv1.NetworkPolicy{}
			policy.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"))
			policy.Name, policy.Namespace = "web", "demo"
			spec, before := strings.CutPrefix(test.policy, "before ")
			if before {
				policy.Annotations = map[string]string{v1.AnnotationStage: "before"}
			}
			require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &policy.Spec))
			in := state{}.input(t)
			in.Snapshot = snapshot(t, policy)
			in.Rendered = []kube.Key{kube.KeyOf(policy), {GroupKind: test.beside, Name: "web"}}
			var told []v1.Problem
			for _, problem := range summarize(in).Problems {
				if problem.Reason == v1.ReasonAccessTooNarrow {
					told = append(told, problem)
				}
			}
			if test.told == "" && len(told) > 0 || test.told != "" && (len(told) != 1 || !strings.Contains(told[0].Message, test.told+" cannot reach the pods")) {
				t.Errorf("got %+v, want a problem that names %q", told, test.told)
			}
		})
	}
}
