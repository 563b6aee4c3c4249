package render

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// networkPod is a pod as networks see it: of an AppService, with its labels, or of something else without any.
type networkPod struct {
	namespace string
	labels    labels.Set
	address   netip.Addr
	ports     map[string]int32
}

// network enforces NetworkPolicies as their documentation says: a pod that none selects is open, one that some select is open to what any
// of them admits.
type network []networkingv1.NetworkPolicy

// connects reports whether a pod reaches a port of another.
func (n network) connects(from, to networkPod, port int32, protocol corev1.Protocol) bool {
	leaves := n.allows(from, networkingv1.PolicyTypeEgress, func(policy networkingv1.NetworkPolicy) bool {
		return slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
			return admits(policy.Namespace, rule.To, rule.Ports, to, to, port, protocol)
		})
	})
	return leaves && n.allows(to, networkingv1.PolicyTypeIngress, func(policy networkingv1.NetworkPolicy) bool {
		return slices.ContainsFunc(policy.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
			return admits(policy.Namespace, rule.From, rule.Ports, from, to, port, protocol)
		})
	})
}

func (n network) allows(of networkPod, direction networkingv1.PolicyType, by func(networkingv1.NetworkPolicy) bool) bool {
	selecting := slices.DeleteFunc(slices.Clone(n), func(policy networkingv1.NetworkPolicy) bool {
		return policy.Namespace != of.namespace || !slices.Contains(policy.Spec.PolicyTypes, direction) || !selects(&policy.Spec.PodSelector, of.labels)
	})
	return len(selecting) == 0 || slices.ContainsFunc(selecting, by)
}

func admits(namespace string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, peer, server networkPod, port int32, protocol corev1.Protocol) bool {
	who := len(peers) == 0 || slices.ContainsFunc(peers, func(one networkingv1.NetworkPolicyPeer) bool {
		if one.IPBlock != nil {
			return netip.MustParsePrefix(one.IPBlock.CIDR).Contains(peer.address)
		}
		if one.NamespaceSelector == nil && peer.namespace != namespace {
			return false
		}
		return (one.NamespaceSelector == nil || selects(one.NamespaceSelector, labels.Set{corev1.LabelMetadataName: peer.namespace})) &&
			(one.PodSelector == nil || selects(one.PodSelector, peer.labels))
	})
	return who && (len(ports) == 0 || slices.ContainsFunc(ports, func(one networkingv1.NetworkPolicyPort) bool {
		number := ptr.Deref(one.Port, intstr.FromInt32(port))
		return ptr.Deref(one.Protocol, corev1.ProtocolTCP) == protocol && (number.Type == intstr.Int && number.IntVal == port || number.Type == intstr.String && server.ports[number.StrVal] == port)
	}))
}

func selects(selector *metav1.LabelSelector, of labels.Set) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(of)
}

// deployed returns what an AppService of namespace shop becomes for a network: its pods, and its policies.
func deployed(t *testing.T, name, spec string) (networkPod, network) {
	t.Helper()
	object := appService(t, spec)
	object.SetName(name)
	pod, policies := networkPod{namespace: "shop", address: netip.MustParseAddr("10.0.0.1"), ports: map[string]int32{}}, network{}
	for _, rendered := range rendered(t, shipped(t), object).Objects {
		switch rendered.GetKind() {
		case "NetworkPolicy":
			policies = append(policies, *typedPolicy(t, rendered))
		case "Deployment":
			found, _, _ := unstructured.NestedStringMap(rendered.Object, "spec", "template", "metadata", "labels")
			pod.labels = found
		}
	}
	pod.ports["http"] = 8080
	return pod, policies
}

func typedPolicy(t *testing.T, object *unstructured.Unstructured) *networkingv1.NetworkPolicy {
	t.Helper()
	policy := &networkingv1.NetworkPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, policy); err != nil {
		t.Fatalf("%s: %v", kube.KeyOf(object), err)
	}
	return policy
}

// TestWhoReachesWhom evaluates the policies that are rendered. For each spec, it lists which of a few peers reach port
// 8080 of its pods, and which its pods reach on port 8080.
func TestWhoReachesWhom(t *testing.T) {
	app := func(namespace, name string) networkPod {
		pod, _ := deployed(t, name, `{image: a}`)
		pod.namespace, pod.address = namespace, netip.MustParseAddr("10.0.1.1")
		return pod
	}
	others := map[string]networkPod{
		"shop/orders": app("shop", "orders"), "shop/stock": app("shop", "stock"), "team-a/orders": app("team-a", "orders"), "team-a/stock": app("team-a", "stock"),
		"shop/job":      {namespace: "shop", address: netip.MustParseAddr("10.0.1.2")},
		"ingress-nginx": {namespace: "ingress-nginx", address: netip.MustParseAddr("10.0.1.3")},
		"outside":       {address: netip.MustParseAddr("192.0.2.1")},
	}
	everybody := []string{"ingress-nginx", "outside", "shop/job", "shop/orders", "shop/stock", "team-a/orders", "team-a/stock"}
	cases := map[string]struct {
		spec     string
		from, to []string
	}{
		"no access":                        {``, everybody, everybody},
		"a policy that limits nobody":      {`networkPolicy: {enabled: true}`, everybody, everybody},
		"an AppService of the namespace":   {`access: {from: [{appService: orders}]}`, []string{"shop/orders"}, everybody},
		"an AppService of another one":     {`access: {from: [{appService: orders, namespace: team-a}]}`, []string{"team-a/orders"}, everybody},
		"a whole namespace":                {`access: {from: [{namespace: team-a}]}`, []string{"team-a/orders", "team-a/stock"}, everybody},
		"its own namespace":                {`access: {from: [{namespace: shop}]}`, []string{"shop/job", "shop/orders", "shop/stock"}, everybody},
		"several":                          {`access: {from: [{appService: stock}, {namespace: ingress-nginx}]}`, []string{"ingress-nginx", "shop/stock"}, everybody},
		"nobody":                           {`access: {from: []}`, nil, everybody},
		"nobody beside an open policy":     {`access: {from: []}, networkPolicy: {enabled: true}`, nil, everybody},
		"some beside raw peers":            {`access: {from: [{appService: orders}]}, networkPolicy: {enabled: true, from: [{ipBlock: {cidr: 192.0.2.0/24}}]}`, []string{"outside", "shop/orders"}, everybody},
		"nobody but raw peers":             {`access: {from: []}, networkPolicy: {enabled: true, from: [{ipBlock: {cidr: 192.0.2.0/24}}]}`, []string{"outside"}, everybody},
		"to an AppService":                 {`access: {to: [{appService: orders}]}`, everybody, []string{"shop/orders"}},
		"to a namespace":                   {`access: {to: [{namespace: team-a}]}`, everybody, []string{"team-a/orders", "team-a/stock"}},
		"to nobody":                        {`access: {to: []}`, everybody, nil},
		"to some beside raw rules":         {`access: {to: [{appService: orders}]}, networkPolicy: {enabled: true, egress: [{to: [{ipBlock: {cidr: 192.0.2.0/24}}]}]}`, everybody, []string{"outside", "shop/orders"}},
		"to nobody but raw rules":          {`access: {to: []}, networkPolicy: {enabled: true, egress: [{to: [{ipBlock: {cidr: 192.0.2.0/24}}]}]}`, everybody, []string{"outside"}},
		"to some beside a raw rule of all": {`access: {to: [{appService: orders}]}, networkPolicy: {enabled: true, egress: [{}]}`, everybody, everybody},
		"both directions":                  {`access: {from: [{namespace: team-a}], to: [{appService: orders}]}`, []string{"team-a/orders", "team-a/stock"}, []string{"shop/orders"}},
		"both to nobody":                   {`access: {from: [], to: []}`, nil, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			own, policies := deployed(t, "web", `{image: a, ports: [{port: 80, targetPort: 8080}], `+test.spec+`}`)
			var from, to []string
			for _, other := range everybody {
				if policies.connects(others[other], own, 8080, corev1.ProtocolTCP) {
					from = append(from, other)
				}
				if policies.connects(own, others[other], 8080, corev1.ProtocolTCP) {
					to = append(to, other)
				}
				if policies.connects(others[other], own, 9999, corev1.ProtocolTCP) && len(policies) > 0 && !slices.Equal(test.from, everybody) {
					t.Errorf("%s reaches a port that the spec does not name", other)
				}
				for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
					for _, port := range []int32{53, 5353} {
						if !policies.connects(own, others[other], port, protocol) {
							t.Errorf("the pods do not reach DNS at %s, port %d %s", other, port, protocol)
						}
					}
				}
			}
			if !slices.Equal(from, test.from) {
				t.Errorf("got traffic from %q, want %q", from, test.from)
			}
			if !slices.Equal(to, test.to) {
				t.Errorf("got traffic to %q, want %q", to, test.to)
			}
			if test.spec != "networkPolicy: {enabled: true}" && !policies.connects(own, own, 9999, corev1.ProtocolUDP) {
				t.Error("the pods do not reach each other")
			}
		})
	}
}
