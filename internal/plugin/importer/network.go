package importer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// kindGRPCRoute is the kind of a route whose paths are methods.
const kindGRPCRoute = "GRPCRoute"

func (s *subject) networkPieces() []piece {
	var list []piece
	if s.ingress != nil {
		list = append(list, piece{from: source{describe(s.ingress.object), "spec"}, set: s.toIngress})
	}
	if s.policy != nil {
		list = append(list, piece{from: source{describe(s.policy.object), "spec"}, set: s.toNetworkPolicy})
	}
	if s.route != nil {
		route, _ := s.toRoute(s.route)
		list = append(list, piece{from: source{describe(s.route), "spec"}, set: func(spec *v1.AppServiceSpec) { spec.Route = route }})
	}
	return list
}

// toIngress converts the hosts and paths that lead to the Service.
func (s *subject) toIngress(spec *v1.AppServiceSpec) {
	given := s.ingress.read
	out := &v1.Ingress{ClassName: given.Spec.IngressClassName}
	annotations := foreignAnnotations(given.Annotations)
	const issuer, clusterIssuer = "cert-manager.io/issuer", "cert-manager.io/cluster-issuer"
	if out.Issuer = annotations[issuer]; out.Issuer != "" {
		delete(annotations, issuer)
	} else if out.ClusterIssuer = annotations[clusterIssuer]; out.ClusterIssuer != "" {
		delete(annotations, clusterIssuer)
	}
	out.Annotations, out.Hosts = asAnnotations(annotations), []v1.IngressHost{}
	for _, rule := range given.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		var paths []v1.IngressPath
		for _, path := range rule.HTTP.Paths {
			if port, ours := s.backend(path.Backend); ours {
				to := v1.IngressPath{Path: cmp.Or(path.Path, "/"),
					PathType: ptr.Deref(path.PathType, networkingv1.PathTypeImplementationSpecific)}
				if port != 0 {
					to.Port = &port
				}
				paths = append(paths, to)
			}
		}
		if len(paths) == 0 {
			continue
		}
		if rule.Host == "" {
			anyHost := made(&out.AnyHost)
			anyHost.Paths = append(anyHost.Paths, paths...)
			continue
		}
		if at := slices.IndexFunc(out.Hosts, func(h v1.IngressHost) bool { return h.Host == rule.Host }); at >= 0 {
			out.Hosts[at].Paths = append(out.Hosts[at].Paths, paths...)
		} else {
			out.Hosts = append(out.Hosts, v1.IngressHost{Host: rule.Host, Paths: paths})
		}
	}
	for _, tls := range given.Spec.TLS {
		hosts := slices.DeleteFunc(slices.Clone(tls.Hosts), func(host string) bool {
			return !slices.ContainsFunc(out.Hosts, func(h v1.IngressHost) bool { return h.Host == host })
		})
		if len(hosts) > 0 {
			out.TLS = append(out.TLS, v1.IngressTLS{SecretName: tls.SecretName, Hosts: hosts})
		}
	}
	if b := given.Spec.DefaultBackend; b != nil {
		if port, ours := s.backend(*b); ours {
			out.DefaultBackend = &v1.IngressDefaultBackend{Port: &port}
		}
	}
	if out.AnyHost != nil || out.DefaultBackend != nil {
		s.addOnce(Note{Object: describe(s.ingress.object), Field: "spec",
			Reason: "it gets requests to hosts that nobody names, which a platform that tenants share has to allow",
			Remedy: "have wildcardHosts allowed for the namespace, or name the hosts in spec.ingress.hosts"})
	}
	if len(out.Hosts) > 0 || out.AnyHost != nil || out.DefaultBackend != nil {
		spec.Ingress = out
	}
}

// backend returns the number in spec.ports of the port of an imported Service that a backend refers to.
func (s *subject) backend(b networkingv1.IngressBackend) (int32, bool) {
	if b.Service == nil {
		return 0, false
	}
	port := s.entryOf(b.Service.Name, cmp.Or(b.Service.Port.Name, strconv.Itoa(int(b.Service.Port.Number))))
	return port, port != 0
}

// takePolicy converts the first NetworkPolicy that an AppService can express.
func (s *subject) takePolicy(list []pair[networkingv1.NetworkPolicy]) {
	for _, p := range list {
		if s.policy == nil && s.sayable(p.read) {
			s.policy = &p
			s.take(p.object)
			continue
		}
		s.stays(p.object, "spec.networkPolicy makes one NetworkPolicy, for these pods alone, with rules of who may reach them")
	}
}

// oneRule reports whether the peers of one list may reach the ports of the Services, and no others.
func (s *subject) oneRule(p *networkingv1.NetworkPolicy) bool {
	var offered []string
	for _, service := range s.services() {
		for _, entry := range service.Spec.Ports {
			if target := s.target(entry); target != nil {
				offered = append(offered, string(cmp.Or(entry.Protocol, corev1.ProtocolTCP))+"/"+numberIn(s.template, *target))
			}
		}
	}
	if len(p.Spec.Ingress) != min(1, len(offered)) {
		return false
	}
	var open []string
	for _, rule := range p.Spec.Ingress {
		for _, port := range rule.Ports {
			if port.Port == nil || port.EndPort != nil {
				return false
			}
			open = append(open, string(ptr.Deref(port.Protocol, corev1.ProtocolTCP))+"/"+numberIn(s.template, *port.Port))
		}
	}
	for _, set := range []*[]string{&offered, &open} {
		slices.Sort(*set)
		*set = slices.Compact(*set)
	}
	return slices.Equal(offered, open)
}

// takeRoute converts a route that an AppService can express.
func (s *subject) takeRoute(list []*unstructured.Unstructured) {
	for _, object := range list {
		_, sayable := s.toRoute(object)
		switch {
		case sayable && s.route == nil:
			s.route = object
			s.take(object)
			continue
		case sayable:
			s.aside(object, "an AppService has one route", "keep it beside the AppService")
			continue
		}
		s.aside(object, "spec.route says parents, hosts, matches of path, method and headers, and filters of the standard channel; this one says more", "keep it beside the AppService")
	}
}

// toRoute converts a route, and reports whether it is converted completely.
func (s *subject) toRoute(object *unstructured.Unstructured) (*v1.Route, bool) {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	out, sayable := &v1.Route{}, true
	if object.GetKind() == kindGRPCRoute {
		out.Kind = kindGRPCRoute
	}
	for _, item := range list(spec["parentRefs"]) {
		parent := fields{item, &sayable}
		out.ParentRefs = append(out.ParentRefs,
			v1.RouteParent{Name: parent.text("name"), Namespace: parent.text("namespace"),
				SectionName: parent.text("sectionName")})
		parent.may("group", "gateway.networking.k8s.io")
		parent.may("kind", "Gateway")
		parent.done()
	}
	hosts, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "hostnames")
	out.Hostnames = hosts
	for _, item := range list(spec["rules"]) {
		out.Rules = append(out.Rules, s.routeRule(fields{item, &sayable}))
	}
	for key := range spec {
		sayable = sayable && slices.Contains([]string{"parentRefs", "hostnames", "rules"}, key)
	}
	return out, sayable
}

func (s *subject) routeRule(rule fields) v1.RouteRule {
	out := v1.RouteRule{}
	s.routeBackends(rule, &out)
	s.routeFilters(rule, &out)
	timeouts := fields{rule.sub("timeouts"), rule.whole}
	out.RequestTimeout, out.BackendRequestTimeout = timeouts.text("request"), timeouts.text("backendRequest")
	timeouts.done()
	out.Retry = routeRetry(fields{rule.sub("retry"), rule.whole})
	for _, item := range rule.list("matches") {
		match := fields{item, rule.whole}
		to := routeMatch(match)
		for _, item := range match.list("headers") {
			header := fields{item, rule.whole}
			header.may("type", "Exact")
			if to.Headers == nil {
				to.Headers = map[string]v1.Annotation{}
			}
			to.Headers[header.text("name")] = v1.Annotation(header.text("value"))
			header.done()
		}
		match.done()
		out.Matches = append(out.Matches, to)
	}
	rule.done()
	return out
}

// routeMatch converts the path and the method of a match. A GRPCRoute has both in its method, which is a path here.
func routeMatch(match fields) v1.RouteMatch {
	path := fields{match.sub("path"), match.whole}
	to := v1.RouteMatch{Path: path.text("value"), PathType: path.text("type")}
	path.done()
	if _, is := match.content["method"].(string); is {
		to.Method = match.text("method")
		return to
	}
	method := fields{match.sub("method"), match.whole}
	service, name := method.text("service"), method.text("method")
	method.may("type", "Exact")
	method.done()
	*match.whole = *match.whole && (service != "" || name == "")
	if service != "" {
		to.Path = strings.TrimSuffix("/"+service+"/"+name, "/")
	}
	return to
}

// fields reads a map field by field; whole becomes false if a field is not read.
type fields struct {
	content map[string]any
	whole   *bool
}

func (f fields) text(name string) string {
	text, _ := f.content[name].(string)
	delete(f.content, name)
	return text
}

func (f fields) sub(name string) map[string]any {
	sub, _ := f.content[name].(map[string]any)
	delete(f.content, name)
	return sub
}

func (f fields) list(name string) []map[string]any {
	items := list(f.content[name])
	delete(f.content, name)
	return items
}

// may drops a field that has its default.
func (f fields) may(name string, value any) {
	if f.content[name] == value {
		delete(f.content, name)
	}
}

func (f fields) done() { *f.whole = *f.whole && len(f.content) == 0 }

// list returns the maps of a list.
func list(value any) []map[string]any {
	items, _ := value.([]any)
	var out []map[string]any
	for _, item := range items {
		if content, ok := item.(map[string]any); ok {
			out = append(out, content)
		}
	}
	return out
}
