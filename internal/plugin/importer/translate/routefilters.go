package translate

import (
	"strconv"

	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// routeBackends converts where a rule sends requests: a port of the imported Service, or several backends. The spec
// cannot name Services of other namespaces.
func (a *Application) routeBackends(rule fields, out *v1.RouteRule) {
	for _, item := range rule.list("backendRefs") {
		backend := fields{item, rule.whole}
		service, port := a.routeBackend(backend)
		to := v1.RouteBackend{Service: service, Port: port}
		backend.may("weight", int64(1))
		to.Weight = backend.number("weight")
		backend.done()
		out.Backends = append(out.Backends, to)
	}
	if len(out.Backends) == 1 && out.Backends[0].Service == "" && out.Backends[0].Weight == nil {
		out.Port, out.Backends = &out.Backends[0].Port, nil
	}
}

// routeBackend reads a Service and a port of it. For an imported Service, it returns no name, and the port in
// spec.ports.
func (a *Application) routeBackend(backend fields) (service string, port int32) {
	service, port = backend.text("name"), ptr.Deref(backend.number("port"), 0)
	backend.may("group", "")
	backend.may("kind", "Service")
	if entry := a.entryOf(service, strconv.Itoa(int(port))); entry != 0 {
		return "", entry
	}
	*backend.whole = *backend.whole && a.service != nil && port != 0
	return service, port
}

// routeFilters converts what a rule does with requests and responses.
func (a *Application) routeFilters(rule fields, out *v1.RouteRule) {
	for _, item := range rule.list("filters") {
		filter := fields{item, rule.whole}
		switch filter.text("type") {
		case "RequestHeaderModifier":
			out.RequestHeaders = routeHeaders(fields{filter.sub("requestHeaderModifier"), rule.whole})
		case "ResponseHeaderModifier":
			out.ResponseHeaders = routeHeaders(fields{filter.sub("responseHeaderModifier"), rule.whole})
		case "CORS":
			out.CORS = routeCORS(fields{filter.sub("cors"), rule.whole})
		case "RequestMirror":
			mirror := fields{filter.sub("requestMirror"), rule.whole}
			backend := fields{mirror.sub("backendRef"), rule.whole}
			*rule.whole = *rule.whole && out.Mirror == nil // a rule has one
			service, port := a.routeBackend(backend)
			out.Mirror = &v1.RouteMirror{Service: service, Port: port, Percent: mirror.number("percent")}
			backend.done()
			mirror.done()
		case "RequestRedirect":
			out.Redirect = routeRedirect(fields{filter.sub("requestRedirect"), rule.whole})
		case "URLRewrite":
			rewrite := fields{filter.sub("urlRewrite"), rule.whole}
			out.Rewrite = &v1.RouteRewrite{Hostname: rewrite.text("hostname")}
			out.Rewrite.Path, out.Rewrite.Prefix = rewrite.path()
			rewrite.done()
		}
		filter.done() // what no case reads is left
	}
}

func routeRedirect(redirect fields) *v1.RouteRedirect {
	out := &v1.RouteRedirect{Scheme: redirect.text("scheme"), Hostname: redirect.text("hostname"),
		Port: redirect.number("port")}
	redirect.may("statusCode", int64(302))
	out.StatusCode = redirect.number("statusCode")
	out.Path, out.Prefix = redirect.path()
	redirect.done()
	return out
}

func routeHeaders(headers fields) *v1.RouteHeaders {
	values := func(name string) map[string]v1.RouteHeader {
		var out map[string]v1.RouteHeader
		for _, item := range headers.list(name) {
			header := fields{item, headers.whole}
			if out == nil {
				out = map[string]v1.RouteHeader{}
			}
			out[header.text("name")] = v1.RouteHeader(header.text("value"))
			header.done()
		}
		return out
	}
	out := &v1.RouteHeaders{Set: values("set"), Add: values("add"), Remove: headers.texts("remove")}
	headers.done()
	return out
}

func routeCORS(cors fields) *v1.RouteCORS {
	cors.may("maxAge", int64(5))
	out := &v1.RouteCORS{
		AllowOrigins: cors.texts("allowOrigins"), AllowMethods: cors.texts("allowMethods"),
		AllowHeaders: cors.texts("allowHeaders"), ExposeHeaders: cors.texts("exposeHeaders"), MaxAge: cors.number("maxAge"),
	}
	out.AllowCredentials, _ = cors.content["allowCredentials"].(bool)
	delete(cors.content, "allowCredentials")
	cors.done()
	return out
}

func routeRetry(retry fields) *v1.RouteRetry {
	if retry.content == nil {
		return nil
	}
	out := &v1.RouteRetry{Attempts: retry.number("attempts"), Backoff: retry.text("backoff")}
	items, _ := retry.content["codes"].([]any)
	delete(retry.content, "codes")
	for _, item := range items {
		code, _ := item.(int64)
		out.Codes = append(out.Codes, int32(code)) //nolint:gosec // statuses, by the schema of their kind
	}
	retry.done()
	return out
}
