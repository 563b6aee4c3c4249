package translate

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// takeRoute converts a route that an AppService can express.
func (a *Application) takeRoute(list []*unstructured.Unstructured) {
	for _, object := range list {
		_, sayable := a.toRoute(object)
		switch {
		case sayable && a.route == nil:
			a.route = object
			a.take(object)
			continue
		case sayable:
			a.aside(object, "an AppService has one route", "keep it beside the AppService")
			continue
		}
		a.aside(object, "spec.route says parents, hosts, matches of path, method and headers, and filters of the standard channel; this one says more", "keep it beside the AppService")
	}
}

// toRoute converts a route, and reports whether it is converted completely.
func (a *Application) toRoute(object *unstructured.Unstructured) (*v1.Route, bool) {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	out, sayable := &v1.Route{}, true
	if object.GetKind() == read.KindGRPCRoute {
		out.Kind = read.KindGRPCRoute
	}
	for _, item := range read.Maps(spec["parentRefs"]) {
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
	for _, item := range read.Maps(spec["rules"]) {
		out.Rules = append(out.Rules, a.routeRule(fields{item, &sayable}))
	}
	for key := range spec {
		sayable = sayable && slices.Contains([]string{"parentRefs", "hostnames", "rules"}, key)
	}
	return out, sayable
}

func (a *Application) routeRule(rule fields) v1.RouteRule {
	out := v1.RouteRule{}
	a.routeBackends(rule, &out)
	a.routeFilters(rule, &out)
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
