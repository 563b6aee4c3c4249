package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
)

// hpaOwnership is the annotation that the shipped chart sets on an autoscaler so that KEDA may replace it.
const hpaOwnership = "validations.keda.sh/hpa-ownership"

// The annotations that name cert-manager's issuers.
const (
	issuer        = "cert-manager.io/issuer"
	clusterIssuer = "cert-manager.io/cluster-issuer"
	issuerKind    = "cert-manager.io/issuer-kind"
	issuerGroup   = "cert-manager.io/issuer-group"
)

// ingressClass is the annotation that named the class before there was a field.
const ingressClass = "kubernetes.io/ingress.class"

// annotations checks the annotations of an object, or of a template within it, by the rule for a kind.
func (c *check) annotations(kind string, content map[string]any) {
	found, _, _ := unstructured.NestedFieldNoCopy(content, "metadata", "annotations")
	all, _ := found.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch {
		case kube.ReservedAnnotation(key) != "", key == hpaOwnership: // no spec may set it
		case key == issuer, key == clusterIssuer, key == issuerKind, key == issuerGroup: // together
		case c.Annotations["*"].Allow(key), c.Annotations[kind].Allow(key):
		default:
			c.refuseAnnotation(kind, key)
		}
	}
	c.issuers(all)
}

// refuseAnnotation records a refused annotation, with those of the same prefix that are allowed.
func (c *check) refuseAnnotation(kind, key string) {
	prefix, _, _ := strings.Cut(key, "/")
	var alike []string
	for _, pattern := range slices.Concat(c.Annotations["*"], c.Annotations[kind]) {
		if rest, same := strings.CutPrefix(pattern, prefix+"/"); same {
			alike = append(alike, rest)
		}
	}
	rule := annotationsOf(kind)
	if c.places[rule] == "" {
		rule = annotationsOf("*")
	}
	if len(alike) == 0 {
		c.refuse("annotation", key, rule, "allows none of "+prefix+"/", item(key))
		return
	}
	c.refuse("annotation", key, rule, fmt.Sprintf("allows of these %s", shown(alike)), item(key))
}

func (c *check) issuers(annotations map[string]any) {
	kind, _ := annotations[issuerKind].(string)
	if name, is := annotations[issuer].(string); is {
		c.issuer("annotation "+issuer, cmp.Or(kind, "Issuer"), name)
	}
	if name, is := annotations[clusterIssuer].(string); is {
		c.issuer("annotation "+clusterIssuer, "ClusterIssuer", name)
	}
}

func (c *check) issuer(path, kind, name string) {
	value := kind + "/" + name
	c.allowed(path, value, "issuers", c.Issuers, c.Issuers.Allow(value))
}
