// Package ingressroute turns the Ingress of an AppService into a route of the Gateway API: its hosts and paths, and
// the effects of its annotations for ingress-nginx, as far as a route has a field for them. An annotation without
// such a field becomes a note.
package ingressroute

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Note is a difference between a route and the Ingress.
type Note struct{ Field, Text string }

// conversion is one in progress.
type conversion struct {
	spec    *v1.AppServiceSpec
	ingress *v1.Ingress
	route   *v1.Route
	plain   bool // plain HTTP is served, too
	notes   []Note
	why     string // of the row that is being converted
}

// Convert returns a spec with a route to a Gateway instead of the Ingress, and the differences. Hosts whose paths
// differ from those of the first stay in the Ingress: a route has the same rules for all of its hosts. The spec given
// is not changed.
func Convert(given *v1.AppServiceSpec, gateway v1.RouteParent) (*v1.AppServiceSpec, []Note, error) {
	switch {
	case given.Ingress == nil || len(given.Ingress.Hosts) == 0:
		return nil, nil, errors.New("spec.ingress has no hosts: there is nothing to convert")
	case given.Route != nil:
		return nil, nil, errors.New("spec.route is there already: remove it, or spec.ingress")
	}
	spec := given.DeepCopy()
	c := &conversion{spec: spec, ingress: given.Ingress,
		route: &v1.Route{ParentRefs: []v1.RouteParent{gateway}}}
	// rules come from hosts, and annotations change rules; redirects depend on certificates
	c.hosts()
	c.certificates()
	c.apply()
	c.route.RedirectHTTP = c.redirects()
	spec.Route = c.route
	return spec, c.notes, nil
}

func (c *conversion) note(field, text string, args ...any) {
	c.notes = append(c.notes, Note{field, fmt.Sprintf(text, args...)})
}

// hosts converts the hosts that have the paths of the first one.
func (c *conversion) hosts() {
	paths := c.ingress.Hosts[0].Paths
	var left []v1.IngressHost
	for _, host := range c.ingress.Hosts {
		if !reflect.DeepEqual(host.Paths, paths) {
			left = append(left, host)
			c.note("spec.ingress.hosts", "%s stays in the Ingress: it has other paths than %s, and a route has the same rules for all of "+
				"its hosts; make an AppService of it, with spec.route.rules[].backends", host.Host, c.ingress.Hosts[0].Host)
			continue
		}
		c.route.Hostnames = append(c.route.Hostnames, host.Host)
	}
	if len(left) > 0 {
		c.spec.Ingress.Hosts = left
		c.spec.Ingress.TLS = slices.DeleteFunc(c.spec.Ingress.TLS, func(tls v1.IngressTLS) bool {
			return slices.ContainsFunc(tls.Hosts, func(host string) bool { return slices.Contains(c.route.Hostnames, host) })
		})
	} else {
		c.spec.Ingress = nil
	}
	for _, path := range paths {
		c.route.Rules = append(c.route.Rules, v1.RouteRule{Port: path.Port, Matches: []v1.RouteMatch{c.match(path)}})
	}
	if len(c.route.Rules) == 0 {
		c.route.Rules = []v1.RouteRule{{}}
	}
}

// match converts a path. With use-regex, and with a target that refers to groups, ingress-nginx takes all of them for
// regular expressions.
func (c *conversion) match(path v1.IngressPath) v1.RouteMatch {
	match := v1.RouteMatch{Path: cmp.Or(path.Path, "/"), PathType: "PathPrefix"}
	target := c.value("rewrite-target")
	switch {
	case path.PathType == networkingv1.PathTypeExact:
		match.PathType = "Exact"
	case c.value("use-regex") == "true" || strings.Contains(target, "$"):
		if regexp.QuoteMeta(match.Path) != match.Path {
			match.PathType = "RegularExpression"
		}
	}
	return match
}

// value returns the value of an annotation of ingress-nginx.
func (c *conversion) value(name string) string { return string(c.ingress.Annotations[prefix+name]) }

// certificates brings the certificate along.
func (c *conversion) certificates() {
	in := c.ingress
	var secrets []string
	for _, tls := range in.TLS {
		if !slices.Contains(secrets, tls.SecretName) {
			secrets = append(secrets, tls.SecretName)
		}
	}
	if len(in.TLS) == 0 {
		c.plain = true
		return
	}
	c.route.TLS = &v1.RouteTLS{Issuer: in.Issuer, ClusterIssuer: in.ClusterIssuer}
	if len(secrets) == 1 {
		c.route.TLS.SecretName = secrets[0]
	}
	if *c.route.TLS == (v1.RouteTLS{}) {
		c.route.TLS = nil
		c.note("spec.ingress.tls", "a route has one certificate: leave it to the Gateway, or set spec.route.tls.secretName to one for all hosts")
		return
	}
	c.note("spec.route.tls", "this adds listeners to the Gateway, whose owner must allow that (allowedListeners); remove it if the "+
		"Gateway has a certificate for these hosts")
}

// redirects reports whether plain HTTP is redirected: as with ingress-nginx, by default if there is TLS.
func (c *conversion) redirects() bool {
	return c.value("force-ssl-redirect") == "true" || !c.plain && c.value("ssl-redirect") != "false"
}

// apply converts the annotations.
func (c *conversion) apply() {
	for _, key := range slices.Sorted(maps.Keys(c.ingress.Annotations)) {
		value := string(c.ingress.Annotations[key])
		name, nginx := strings.CutPrefix(key, prefix)
		if !nginx {
			c.note("spec.ingress.annotations", "%s is for the Ingress only: it is left out", key)
			continue
		}
		row := RowOf(name)
		switch {
		case row == nil:
			c.note("spec.ingress.annotations", "%s is left out: no field of a route does this", key)
		case row.convert == nil:
			c.note("spec.ingress.annotations", "%s is left out: %s", key, row.Why)
		default:
			c.why = row.Why
			row.convert(c, name, value)
		}
	}
}

// RowOf returns the row of an annotation, by its key without the prefix; nil if there is none.
func RowOf(name string) *Row {
	for i := range Table {
		begin, many := strings.CutSuffix(Table[i].Annotation, "*")
		if name == Table[i].Annotation || many && strings.HasPrefix(name, begin) {
			return &Table[i]
		}
	}
	return nil
}

// each changes all rules that send requests.
func (c *conversion) each(change func(rule *v1.RouteRule)) {
	for i := range c.route.Rules {
		if c.route.Rules[i].Redirect == nil {
			change(&c.route.Rules[i])
		}
	}
}

// unneeded is for an annotation whose effect gateways have anyway, or which is converted with another one.
func unneeded(*conversion, string, string) {}

// noteOnly is for an annotation that is up to the reader.
func noteOnly(c *conversion, name, _ string) {
	c.note("spec.ingress.annotations", "%s%s: %s", prefix, name, c.why)
}

func appRoot(c *conversion, _, value string) {
	c.route.Rules = append([]v1.RouteRule{{Matches: []v1.RouteMatch{{Path: "/", PathType: "Exact"}},
		Redirect: &v1.RouteRedirect{Path: value}}}, c.route.Rules...)
}

func backendProtocol(c *conversion, name, value string) {
	switch strings.ToUpper(value) {
	case "HTTP", "AUTO_HTTP", "":
	case "GRPC":
		for _, rule := range c.route.Rules {
			for i := range c.spec.Ports {
				if port := &c.spec.Ports[i]; port.Port == ptr.Deref(rule.Port, c.spec.Ports[0].Port) && rule.Redirect == nil {
					port.AppProtocol = ptr.To("kubernetes.io/h2c")
				}
			}
		}
	default:
		c.note("spec.ingress.annotations", "%s%s %s is left out: %s", prefix, name, value, upstream)
	}
}

func httpVersion(c *conversion, name, value string) {
	if value != "1.1" {
		c.note("spec.ingress.annotations", "%s%s %s is left out: %s", prefix, name, value, c.why)
	}
}

// withEnableCORS converts an annotation that says how CORS are answered, with enable-cors.
func withEnableCORS(c *conversion, name, _ string) {
	if c.value("enable-cors") != "true" {
		c.note("spec.ingress.annotations", "%s%s has no effect without enable-cors", prefix, name)
	}
}

// The defaults of ingress-nginx for CORS.
const (
	corsMethods = "GET, PUT, POST, DELETE, PATCH, OPTIONS"
	corsHeaders = "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization"
	corsMaxAge  = "1728000"
)

func enableCORS(c *conversion, _, value string) {
	if value != "true" {
		return
	}
	cors := v1.RouteCORS{
		AllowOrigins:     split(cmp.Or(c.value("cors-allow-origin"), "*")),
		AllowMethods:     split(cmp.Or(c.value("cors-allow-methods"), corsMethods)),
		AllowHeaders:     split(cmp.Or(c.value("cors-allow-headers"), corsHeaders)),
		ExposeHeaders:    split(c.value("cors-expose-headers")),
		AllowCredentials: c.value("cors-allow-credentials") != "false",
	}
	if seconds, err := strconv.ParseInt(cmp.Or(c.value("cors-max-age"), corsMaxAge), 10, 32); err == nil {
		cors.MaxAge = ptr.To(int32(seconds))
	}
	c.each(func(rule *v1.RouteRule) { rule.CORS = cors.DeepCopy() })
}

// split returns the items of a list with commas.
func split(list string) (items []string) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" && !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	return items
}

// nextUpstream converts the statuses after which another pod is tried, such as http_503.
func nextUpstream(c *conversion, _, value string) {
	var codes []int32
	for word := range strings.FieldsSeq(value) {
		if code, err := strconv.ParseInt(strings.TrimPrefix(word, "http_"), 10, 32); err == nil && code >= 400 {
			codes = append(codes, int32(code))
		}
	}
	if len(codes) > 0 {
		c.each(func(rule *v1.RouteRule) { retry(rule).Codes = codes })
	}
}

func nextTries(c *conversion, name, value string) {
	tries, err := strconv.Atoi(value)
	if err != nil || tries < 1 || tries > 100 {
		c.note("spec.ingress.annotations", "%s%s %s is left out: write a number in spec.route.rules[].retry.attempts", prefix, name, value)
		return
	}
	c.each(func(rule *v1.RouteRule) { retry(rule).Attempts = ptr.To(int32(tries - 1)) }) //nolint:gosec // at most 100
}

func retry(rule *v1.RouteRule) *v1.RouteRetry {
	if rule.Retry == nil {
		rule.Retry = &v1.RouteRetry{}
	}
	return rule.Retry
}

func readTimeout(c *conversion, name, value string) {
	if c.timeout(name, value, func(rule *v1.RouteRule, text string) { rule.BackendRequestTimeout = text }) {
		noteOnly(c, name, value)
	}
}

func requestTimeout(c *conversion, name, value string) {
	if value != "0" {
		c.timeout(name, value, func(rule *v1.RouteRule, text string) { rule.RequestTimeout = text })
	}
}

// timeout converts seconds, and reports whether it did.
func (c *conversion) timeout(name, value string, set func(rule *v1.RouteRule, text string)) bool {
	seconds, err := strconv.ParseUint(strings.TrimSuffix(value, "s"), 10, 16)
	if err != nil {
		c.note("spec.ingress.annotations", "%s%s %s is left out: it is no number of seconds", prefix, name, value)
		return false
	}
	c.each(func(rule *v1.RouteRule) { set(rule, fmt.Sprintf("%ds", seconds)) })
	return true
}

func forwardedPrefix(c *conversion, _, value string) {
	c.each(func(rule *v1.RouteRule) {
		header := value
		if value == "true" && len(rule.Matches) > 0 {
			header = rule.Matches[0].Path
		}
		rule.RequestHeaders = &v1.RouteHeaders{Set: map[string]v1.RouteHeader{"x-forwarded-prefix": v1.RouteHeader(header)}}
	})
}
