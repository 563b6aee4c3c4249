package v1

// RouteTLS is a certificate for the hostnames of a route, on HTTPS listeners of the route's own: a ListenerSet.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.issuer) && has(self.clusterIssuer))",message="spec.route.tls takes issuer or clusterIssuer, not both"
// +kubebuilder:validation:XValidation:rule="has(self.issuer) || has(self.clusterIssuer) || has(self.secretName)",message="spec.route.tls needs issuer, clusterIssuer or secretName"
type RouteTLS struct {
	// Issuer is the cert-manager Issuer, in the same namespace, that makes the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Issuer string `json:"issuer,omitempty"`

	// ClusterIssuer is the cert-manager ClusterIssuer that makes the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClusterIssuer string `json:"clusterIssuer,omitempty"`

	// SecretName is the Secret that holds the certificate. cert-manager makes it when an issuer is set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`
}

// RouteBackend is one of several backends.
type RouteBackend struct {
	// Service in this namespace. Defaults to that of the AppService.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Service string `json:"service,omitempty"`

	// Port of the Service; without service, that of an entry in spec.ports.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// Weight is the share of the requests, of the sum of all weights. Defaults to 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// RouteMirror is where a copy of requests goes.
type RouteMirror struct {
	// Service in this namespace. Defaults to that of the AppService.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Service string `json:"service,omitempty"`

	// Port of the Service; without service, that of an entry in spec.ports.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// Percent of the requests that are copied. Defaults to all.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Percent *int32 `json:"percent,omitempty"`
}

// RouteRetry says when a request is sent again.
type RouteRetry struct {
	// Attempts is how often a request is sent again. Defaults to 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Attempts *int32 `json:"attempts,omitempty"`

	// Codes are the statuses after which it is, for example 503.
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Minimum=400
	// +kubebuilder:validation:items:Maximum=599
	// +optional
	Codes []int32 `json:"codes,omitempty"`

	// Backoff is the time before that, for example 100ms.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	// +optional
	Backoff string `json:"backoff,omitempty"`
}

// RouteRedirect is where clients are sent; what is not set stays as in the request.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.path) && has(self.prefix))",message="spec.route.rules[].redirect takes path or prefix, not both"
// +kubebuilder:validation:XValidation:rule="has(self.scheme) || has(self.hostname) || has(self.port) || has(self.path) || has(self.prefix)",message="spec.route.rules[].redirect needs scheme, hostname, port, path or prefix: without one, it redirects to itself"
type RouteRedirect struct {
	// Scheme of the URL.
	// +kubebuilder:validation:Enum=http;https
	// +optional
	Scheme string `json:"scheme,omitempty"`

	// Hostname of the URL.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	Hostname string `json:"hostname,omitempty"`

	// Port of the URL. Defaults to that of the scheme.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Path replaces the path.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Path string `json:"path,omitempty"`

	// Prefix replaces the path that the rule matches, and keeps the rest.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Prefix string `json:"prefix,omitempty"`

	// StatusCode of the response. Defaults to 302.
	// +kubebuilder:validation:Enum=301;302;303;307;308
	// +optional
	StatusCode *int32 `json:"statusCode,omitempty"`
}

// RouteRewrite changes requests before they are sent.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.path) && has(self.prefix))",message="spec.route.rules[].rewrite takes path or prefix, not both"
// +kubebuilder:validation:XValidation:rule="has(self.hostname) || has(self.path) || has(self.prefix)",message="spec.route.rules[].rewrite needs hostname, path or prefix"
type RouteRewrite struct {
	// Hostname replaces the header Host.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	Hostname string `json:"hostname,omitempty"`

	// Path replaces the path.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Path string `json:"path,omitempty"`

	// Prefix replaces the path that the rule matches, and keeps the rest.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Prefix string `json:"prefix,omitempty"`
}

// RouteHeader is the value of a header.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=4096
type RouteHeader string

// RouteHeaders changes headers.
//
// +kubebuilder:validation:XValidation:rule="has(self.set) || has(self.add) || has(self.remove)",message="spec.route.rules[].requestHeaders and responseHeaders need set, add or remove"
type RouteHeaders struct {
	// Set gives headers these values, and no others.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Set map[string]RouteHeader `json:"set,omitempty"`

	// Add adds values to headers.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Add map[string]RouteHeader `json:"add,omitempty"`

	// Remove removes headers.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +optional
	Remove []string `json:"remove,omitempty"`
}

// RouteCORS says which sites browsers may call from.
type RouteCORS struct {
	// AllowOrigins are the sites, for example https://shop.example.com or *.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`(^\*$)|(^(http(s)?):\/\/(((\*\.)?([a-zA-Z0-9\-]+\.)*[a-zA-Z0-9-]+|\*)(:([0-9]{1,5}))?)$)`
	// +kubebuilder:validation:XValidation:rule="!('*' in self && size(self) > 1)",message="spec.route.rules[].cors.allowOrigins must not have others beside *"
	AllowOrigins []string `json:"allowOrigins"`

	// AllowMethods that they may use, or *. Defaults to simple ones, as GET.
	// +listType=set
	// +kubebuilder:validation:MaxItems=9
	// +kubebuilder:validation:items:Enum=GET;HEAD;POST;PUT;DELETE;CONNECT;OPTIONS;TRACE;PATCH;*
	// +kubebuilder:validation:XValidation:rule="!('*' in self && size(self) > 1)",message="spec.route.rules[].cors.allowMethods must not have others beside *"
	// +optional
	AllowMethods []string `json:"allowMethods,omitempty"`

	// AllowHeaders that they may send, or *.
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!('*' in self && size(self) > 1)",message="spec.route.rules[].cors.allowHeaders must not have others beside *"
	// +optional
	AllowHeaders []string `json:"allowHeaders,omitempty"`

	// ExposeHeaders of responses that they may read.
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +optional
	ExposeHeaders []string `json:"exposeHeaders,omitempty"`

	// AllowCredentials lets browsers send cookies.
	// +optional
	AllowCredentials bool `json:"allowCredentials,omitempty"`

	// MaxAge is for how many seconds browsers remember the answer. Defaults to 5.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxAge *int32 `json:"maxAge,omitempty"`
}
