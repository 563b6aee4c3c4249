package ingressroute

// prefix is that of the annotations of ingress-nginx.
const prefix = "nginx.ingress.kubernetes.io/"

// Row is the translation of an annotation of ingress-nginx.
type Row struct {
	// Annotation is its key without prefix, as the built-in policy lists it; a * at its end stands for any rest.
	Annotation string
	// Field of the spec that takes its place; empty for none.
	Field string
	// Why there is none, or the difference.
	Why string

	convert func(c *conversion, key, value string)
}

// Reasons that several annotations have.
const (
	buffering = "how a gateway buffers is set for the gateway, not for a route"
	upstream  = "TLS to pods is a BackendTLSPolicy of the Gateway API, beside the AppService"
	sticky    = "session persistence is not in the standard channel of the Gateway API"
	addresses = "the Gateway API has no lists of client addresses: use the policy of your gateway; without one, everyone reaches the route"
	rates     = "the Gateway API has no rate limits: use the policy of your gateway"
	ofGateway = "the owner of the listener or the gateway sets that"
)

// Table lists the annotations of ingress-nginx that the built-in policy allows, in its order.
var Table = []Row{
	{Annotation: "affinity", Why: sticky},
	{Annotation: "affinity-mode", Why: sticky},
	{Annotation: "allowlist-source-range", Why: addresses},
	{Annotation: "app-root", Field: "rules[].redirect", Why: "a rule for the path / alone", convert: appRoot},
	{Annotation: "backend-protocol", Field: "ports[].appProtocol", Why: "GRPC becomes kubernetes.io/h2c. " + upstream, convert: backendProtocol},
	{Annotation: "client-body-buffer-size", Why: buffering},
	{Annotation: "connection-proxy-header", Why: "gateways set the header Connection themselves", convert: unneeded},
	{Annotation: "cors-*", Field: "rules[].cors", Why: "from Gateway API 1.5 on", convert: withEnableCORS},
	{Annotation: "custom-http-errors", Why: "the Gateway API has no pages for errors"},
	{Annotation: "denylist-source-range", Why: addresses},
	{Annotation: "disable-proxy-intercept-errors", Why: "gateways pass errors of pods on", convert: unneeded},
	{Annotation: "enable-cors", Field: "rules[].cors", Why: "with the defaults of ingress-nginx; from Gateway API 1.5 on", convert: enableCORS},
	{Annotation: "enable-opentelemetry", Why: ofGateway},
	{Annotation: "force-ssl-redirect", Field: "redirectHTTP", convert: unneeded},
	{Annotation: "http2-push-preload", Why: "browsers no longer take pushed content", convert: unneeded},
	{Annotation: "limit-*", Why: rates},
	{Annotation: "load-balance", Why: "how a gateway balances is a policy of the gateway"},
	{Annotation: "preserve-trailing-slash", Why: "redirects of gateways keep the path as it is", convert: unneeded},
	{Annotation: "proxy-body-size", Why: "the Gateway API has no limit of sizes: the gateway's own holds"},
	{Annotation: "proxy-buffer-size", Why: buffering},
	{Annotation: "proxy-buffering", Why: buffering},
	{Annotation: "proxy-buffers-number", Why: buffering},
	{Annotation: "proxy-busy-buffers-size", Why: buffering},
	{Annotation: "proxy-connect-timeout", Why: "the Gateway API has timeouts of requests, not of connections"},
	{Annotation: "proxy-cookie-path", Why: "the Gateway API changes no cookies: let the application set their path"},
	{Annotation: "proxy-http-version", Field: "ports[].appProtocol", Why: "HTTP/1.1 is the default; kubernetes.io/h2c is HTTP/2", convert: httpVersion},
	{Annotation: "proxy-max-temp-file-size", Why: buffering},
	{Annotation: "proxy-next-upstream", Field: "rules[].retry.codes", Why: "from Gateway API 1.7 on; errors of connections are up to the gateway", convert: nextUpstream},
	{Annotation: "proxy-next-upstream-timeout", Field: "rules[].requestTimeout", Why: "of the request with all of its attempts", convert: requestTimeout},
	{Annotation: "proxy-next-upstream-tries", Field: "rules[].retry.attempts", Why: "one less: the first is no retry; from Gateway API 1.7 on", convert: nextTries},
	{Annotation: "proxy-read-timeout", Field: "rules[].backendRequestTimeout", Why: "of the whole response, not between two reads: leave it out for streams", convert: readTimeout},
	{Annotation: "proxy-redirect-from", Why: "gateways do not rewrite redirects of pods: let the application redirect to its public address"},
	{Annotation: "proxy-redirect-to", Why: "as proxy-redirect-from"},
	{Annotation: "proxy-request-buffering", Why: buffering},
	{Annotation: "proxy-send-timeout", Why: "the Gateway API has timeouts of whole requests, not between two writes"},
	{Annotation: "proxy-ssl-protocols", Why: upstream},
	{Annotation: "proxy-ssl-server-name", Why: upstream},
	{Annotation: "proxy-ssl-verify", Why: upstream},
	{Annotation: "proxy-ssl-verify-depth", Why: upstream},
	{Annotation: "rewrite-target", Field: "rules[].rewrite", Why: "prefix where the path is PREFIX(/|$)(.*) and the target ends with $2; path for a target without $; other patterns have no equal", convert: rewriteTarget},
	{Annotation: "secure-backends", Why: upstream},
	{Annotation: "service-upstream", Why: "whether gateways send to the Service or to its pods is theirs", convert: unneeded},
	{Annotation: "session-cookie-*", Why: sticky},
	{Annotation: "ssl-ciphers", Why: ofGateway},
	{Annotation: "ssl-prefer-server-ciphers", Why: ofGateway},
	{Annotation: "ssl-redirect", Field: "redirectHTTP", Why: "on by default where the Ingress has TLS, as with ingress-nginx", convert: unneeded},
	{Annotation: "use-port-in-redirects", Field: "rules[].redirect.port", Why: "set it in rules that redirect", convert: noteOnly},
	{Annotation: "use-regex", Field: "rules[].matches[].pathType", Why: "RegularExpression; gateways differ in dialect, and match the whole path", convert: unneeded},
	{Annotation: "websocket-services", Why: "gateways pass WebSockets on", convert: unneeded},
	{Annotation: "whitelist-source-range", Why: addresses},
	{Annotation: "x-forwarded-prefix", Field: "rules[].requestHeaders.set", convert: forwardedPrefix},
}
