package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

var (
	serviceKind       = schema.GroupKind{Kind: "Service"}
	ingressKind       = schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	networkPolicyKind = schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}

	certificate = schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
)

// network checks how pods are reached, except for hosts.
func (c *check) network() {
	kind := c.object.GroupVersionKind().GroupKind()
	switch {
	case kind == serviceKind:
		c.service()
	case kind == ingressKind:
		c.ingress()
		c.paths()
	case kind == networkPolicyKind:
		c.networkPolicy()
	case kind == certificate:
		c.certificate()
	case gateway.IsRoute(kind):
		c.route()
	case kind == gateway.ListenerSetKind:
		parent, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, "spec", "parentRef")
		c.gateway("spec.parentRef", parent)
	}
}

func (c *check) service() {
	of := cmp.Or(c.text("spec", "type"), string(corev1.ServiceTypeClusterIP))
	c.allowed("spec.type", of, "serviceTypes", c.ServiceTypes, c.ServiceTypes.Allow(of))
	for i, item := range c.list("spec", "ports") {
		port, _ := item.(map[string]any)
		if number, is := port["nodePort"].(int64); is && number != 0 {
			c.nodePort(fmt.Sprintf("spec.ports[%d].nodePort", i), number)
		}
	}
	if number, there := c.number("spec", "healthCheckNodePort"); there && number != 0 {
		c.nodePort("spec.healthCheckNodePort", number)
	}
	for i, item := range c.list("spec", "externalIPs") {
		c.address(fmt.Sprintf("spec.externalIPs[%d]", i), fmt.Sprint(item))
	}
	if address := c.text("spec", "loadBalancerIP"); address != "" {
		c.address("spec.loadBalancerIP", address)
	}
	if class := c.text("spec", "loadBalancerClass"); class != "" {
		c.allowed("spec.loadBalancerClass", class, "loadBalancerClasses", c.LoadBalancerClasses,
			c.LoadBalancerClasses.Allow(class))
	}
}

func (c *check) nodePort(path string, number int64) {
	c.allowed(path, strconv.FormatInt(number, 10), "nodePorts", c.NodePorts, c.NodePorts.Allow(number))
}

func (c *check) address(path, address string) {
	c.allowed(path, address, "externalIPs", c.ExternalIPs, c.ExternalIPs.Allow(address))
}

func (c *check) ingress() {
	class, path := c.text("spec", "ingressClassName"), "spec.ingressClassName"
	if old, there := c.object.GetAnnotations()[ingressClass]; there {
		c.class("annotation "+ingressClass, old)
		if class == "" {
			return
		}
	}
	c.class(path, class)
}

func (c *check) paths() {
	for i, item := range c.list("spec", "rules") {
		rule, _ := item.(map[string]any)
		found, _, _ := unstructured.NestedFieldNoCopy(rule, "http", "paths")
		paths, _ := found.([]any)
		for k, item := range paths {
			path, _ := item.(map[string]any)
			of, _ := path["pathType"].(string)
			if text, _ := path["path"].(string); !c.allows(c.namespace(), of, text, c.Paths) {
				c.refuse(fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, k), of+" "+text, "paths", "allows "+shown(c.Paths),
					missing(of))
			}
		}
	}
}

func (c *check) class(path, class string) {
	c.allowed(path, class, "ingressClasses", c.IngressClasses, c.IngressClasses.Allow(class))
}

func (c *check) certificate() {
	of := func(field string) string { return c.text("spec", "issuerRef", field) }
	c.issuer("spec.issuerRef", of("kind"), of("group"), of("name"))
}

func (c *check) route() {
	for i, item := range c.list("spec", "rules") {
		rule, _ := item.(map[string]any)
		matches, _ := rule["matches"].([]any)
		for k, item := range matches {
			match, _ := item.(map[string]any)
			for _, by := range slices.Sorted(maps.Keys(match)) {
				c.matches(fmt.Sprintf("spec.rules[%d].matches[%d].%s", i, k, by), by, match[by])
			}
		}
	}
	for i, item := range c.list("spec", "parentRefs") {
		c.gateway(fmt.Sprintf("spec.parentRefs[%d]", i), item)
	}
}

// matches refuses texts that a route matches by: some controllers copy them into an expression of their own.
func (c *check) matches(path, by string, content any) {
	switch content := content.(type) {
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(content)) {
			c.matches(path, by, content[field])
		}
	case []any:
		for _, item := range content {
			c.matches(path, by, item)
		}
	case string:
		if !c.allows(c.namespace(), by, content, c.Matches) {
			c.refuse(path, "", "matches", "allows "+shown(c.Matches), missing(by))
			c.found[len(c.found)-1].Hidden = content // it may be a token
		}
	}
}

// gateway refuses a parent that the rule does not allow. A ListenerSet of the same namespace is no Gateway: it is
// rendered with the route, and its own parent is checked, or its users made it themselves.
func (c *check) gateway(path string, item any) {
	parent, _ := item.(map[string]any)
	name, _ := parent["name"].(string)
	namespace, _ := parent["namespace"].(string)
	namespace = cmp.Or(namespace, c.object.GetNamespace())
	if parent["kind"] == gateway.ListenerSetKind.Kind && namespace == c.object.GetNamespace() {
		return
	}
	value := namespace + "/" + name
	c.allowed(path, value, "gateways", c.Gateways, c.Gateways.Allow(value))
}
