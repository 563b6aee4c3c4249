package policy

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Keys are patterns of keys, each with any value, or with those that a regular expression matches as a whole, as in
// example.com/timeout=\d+s, or with hosts that are granted to the namespace, as in example.com/names=<hosts>. In an
// expression, <namespace> stands for the name of the namespace.
type Keys []string

const (
	// valued ends the key of a pattern that has values; no key of an annotation or a label contains it.
	valued = "="
	// grantedHosts are the values that are a comma-separated list of hosts that the policy grants to the namespace.
	grantedHosts = "<hosts>"
	// ownNamespace stands in an expression for the name of the namespace.
	ownNamespace = "<namespace>"
)

func (k Keys) check(item string) error {
	key, values, _ := strings.Cut(item, valued)
	if err := Patterns(k).check(key); err != nil {
		return err
	}
	if _, err := regexp.Compile(anchored(values)); err != nil {
		return fmt.Errorf("%q does not end with a regular expression: %w", item, err)
	}
	return nil
}

// anchored returns an expression that matches a value from its beginning to its end, line breaks included.
func anchored(values string) string { return `\A(?s:` + values + `)\z` }

// compile compiles the expressions in lists of keys.
func (r *rules) compile(lists ...Keys) {
	for _, item := range slices.Concat(lists...) {
		if _, values, there := strings.Cut(item, valued); there && values != grantedHosts {
			r.values[values] = regexp.MustCompile(anchored(values)) // check has tried it
		}
	}
}

// allows reports whether any of some lists allows a namespace a key with a value: in each, the last pattern that
// matches counts.
func (r *rules) allows(namespace, key, value string, lists ...Keys) bool {
	matches := func(pattern, key string) bool {
		name, values, limited := strings.Cut(pattern, valued)
		return glob(name, key) && (!limited || r.among(namespace, values, value))
	}
	return slices.ContainsFunc(lists, func(list Keys) bool { return last(list, key, matches, matches) })
}

func (r *rules) among(namespace, values, value string) bool {
	switch {
	case strings.Contains(values, ownNamespace):
		own := strings.ReplaceAll(values, ownNamespace, regexp.QuoteMeta(namespace))
		return regexp.MustCompile(anchored(own)).MatchString(value) // check has tried it
	case values != grantedHosts:
		return r.values[values].MatchString(value)
	}
	for host := range strings.SplitSeq(value, ",") {
		if !(Rules{r}).Grants(strings.TrimSpace(host)) {
			return false
		}
	}
	return true
}

// hpaOwnership is the annotation that the shipped chart sets on an autoscaler so that KEDA may replace it.
const hpaOwnership = "validations.keda.sh/hpa-ownership"

// The annotations that name cert-manager's issuers.
const (
	issuer        = "cert-manager.io/issuer"
	clusterIssuer = "cert-manager.io/cluster-issuer"
	issuerKind    = "cert-manager.io/issuer-kind"
	issuerGroup   = "cert-manager.io/issuer-group"
	tlsACME       = "kubernetes.io/tls-acme"

	certManager = "cert-manager.io"
)

// ingressClass is the annotation that named the class before there was a field.
const ingressClass = "kubernetes.io/ingress.class"

// daprImage is the annotation with the image of a container that is injected: the rules of images apply to it, too.
const daprImage = "dapr.io/sidecar-image"

// metadata checks the annotations and labels of an object, or of a template within it, by the rules for a kind.
func (c *check) metadata(kind string, content map[string]any) {
	for key, value := range in(content, "annotations") {
		switch {
		case kube.ReservedAnnotation(key) != "", key == hpaOwnership: // no spec may set it
		case key == issuer, key == clusterIssuer, key == issuerKind, key == issuerGroup: // together
		default:
			c.key("annotation", "annotations", key, value, c.Annotations, kind)
		}
		if key == daprImage && !c.choice.earlier {
			c.image("annotation "+key, value)
		}
	}
	for key, value := range in(content, "labels") {
		if kube.ReservedAnnotation(key) == "" {
			c.key("label", "labels", key, value, c.Labels, kind)
		}
	}
	c.issuers(content)
}

// in visits the entries of a map in the metadata, by their keys.
func in(content map[string]any, name string) func(yield func(key, value string) bool) {
	found, _, _ := unstructured.NestedFieldNoCopy(content, "metadata", name)
	all, _ := found.(map[string]any)
	return func(yield func(key, value string) bool) {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !yield(key, fmt.Sprint(all[key])) {
				return
			}
		}
	}
}

// key refuses a key that neither the rule for all kinds nor that for its kind allows. The message shows the patterns of
// the same key, else those of the same prefix. It shows no value, which may be a secret.
func (c *check) key(what, rule, key, value string, byKind map[string]Keys, kind string) {
	if c.allows(c.namespace(), key, value, byKind[everything], byKind[kind]) {
		return
	}
	prefix, _, _ := strings.Cut(key, "/")
	of := ofKind(rule, kind)
	var same, alike []string
	known := false
	for _, pattern := range slices.Concat(byKind[everything], byKind[kind]) {
		name, values, limited := strings.Cut(strings.TrimPrefix(pattern, refuses), valued)
		if glob(name, key) {
			known = known || !strings.HasPrefix(pattern, refuses)
			if limited {
				same = append(same, pattern)
			}
		}
		if values == grantedHosts && name == key {
			allows := "allows " + shown(c.Hosts) + ", but " + of + " only what an entry names for the namespace"
			c.refuse(what+" "+key, value, "hosts", allows, missing(value))
			return
		}
		if rest, is := strings.CutPrefix(pattern, prefix+"/"); is {
			alike = append(alike, rest)
		}
	}
	allows := "allows none of " + prefix + "/"
	switch {
	case known && len(same) > 0:
		allows = "has other values: " + shown(same)
	case len(alike) > 0:
		allows = "allows of these " + shown(alike)
	}
	refusal := c.refusal(of, allows, missing(key))
	if c.places[of] == "" {
		refusal.Why = c.refusal(ofKind(rule, everything), allows, nil).Why
	}
	c.found = append(c.found, Violation{Kind: c.object.GetKind(), Name: c.object.GetName(), Path: what, Value: key,
		Hidden: value, Refusal: refusal})
}

func (c *check) issuers(content map[string]any) {
	found, _, _ := unstructured.NestedFieldNoCopy(content, "metadata", "annotations")
	annotations, _ := found.(map[string]any)
	text := func(key string) string { value, _ := annotations[key].(string); return value }
	_, one := annotations[issuer]
	_, ofCluster := annotations[clusterIssuer]
	if one {
		c.issuer("annotation "+issuer, text(issuerKind), text(issuerGroup), text(issuer))
	}
	if ofCluster {
		c.issuer("annotation "+clusterIssuer, "ClusterIssuer", text(issuerGroup), text(clusterIssuer))
	}
	if chosen, _ := strconv.ParseBool(text(tlsACME)); chosen && !one && !ofCluster && !c.choice.earlier {
		c.allowed("annotation "+tlsACME, "", "issuers", c.Issuers, c.Issuers.Allow(""))
	}
}

// issuer refuses an issuer, by its kind and group, which have cert-manager's defaults, and its name.
func (c *check) issuer(path, kind, group, name string) {
	value := cmp.Or(kind, "Issuer") + "/" + name
	if group = cmp.Or(group, certManager); group != certManager && !c.choice.earlier {
		value = cmp.Or(kind, "Issuer") + "." + group + "/" + name
	}
	c.allowed(path, value, "issuers", c.Issuers, c.Issuers.Allow(value))
}
