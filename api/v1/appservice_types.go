package v1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppServiceSpec describes a web service: what runs, how it is reached and how it is configured.
//
// +kubebuilder:validation:XValidation:rule="!has(self.ingress) || (has(self.ports) && size(self.ports) > 0)",message="spec.ingress needs at least one entry in spec.ports to send traffic to"
// +kubebuilder:validation:XValidation:rule="!has(self.ingress) || !has(self.ports) || self.ingress.hosts.all(h, !has(h.paths) || h.paths.all(p, !has(p.port) || self.ports.exists(q, q.port == p.port)))",message="spec.ingress.hosts[].paths[].port must be the port of an entry in spec.ports"
type AppServiceSpec struct {
	// Size is the number of replicas to run. 0 stops the service and keeps everything else.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Size *int32 `json:"size,omitempty"`

	// Image is the container image to run, for example registry.example.com/team/web:1.2.3.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`
	Image string `json:"image"`

	// Resources are the compute resources of the main container. A request may not exceed its limit.
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || ['cpu','memory','ephemeral-storage'].all(r, !(r in self.requests) || !(r in self.limits) || !quantity(string(self.requests[r])).isGreaterThan(quantity(string(self.limits[r]))))",message="spec.resources.requests must not exceed spec.resources.limits (cpu, memory, ephemeral-storage)"
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Envs are environment variables of the main container, taken literally. Names are unique.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Envs []corev1.EnvVar `json:"envs,omitempty"`

	// EnvFrom takes all entries of ConfigMaps and Secrets as environment variables of the main container.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// Ports are the ports that the service offers. None means no Service. Any nodePort makes it a NodePort Service.
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="spec.ports[].name must be unique"
	// +kubebuilder:validation:XValidation:rule="size(self) <= 1 || self.all(p, has(p.name))",message="spec.ports[].name is required when there is more than one port"
	// +optional
	Ports []Port `json:"ports,omitempty"`

	// Ingress makes the service reachable by host name from outside the cluster.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// Config is the configuration of the application, given to it as environment variables. A change rolls the pods.
	// +optional
	Config *Config `json:"config,omitempty"`
}

// Port is one port of the Service and of the main container.
type Port struct {
	// Name of the port, for example http. Required when there is more than one port.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('[a-z]') && !self.contains('--')",message="spec.ports[].name must contain a letter and no two dashes in a row"
	// +optional
	Name string `json:"name,omitempty"`

	// Protocol of the port.
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +kubebuilder:default=TCP
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// Port that the Service offers.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// TargetPort is the port that the container listens on. Defaults to port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	TargetPort *int32 `json:"targetPort,omitempty"`

	// NodePort opens this port on every node. The cluster has a range for these, usually 30000-32767.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	NodePort *int32 `json:"nodePort,omitempty"`

	// AppProtocol is the application protocol, for example http or kubernetes.io/h2c.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	AppProtocol *string `json:"appProtocol,omitempty"`
}

// Ingress describes how the service is reached by host name.
//
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || self.tls.all(t, t.hosts.all(h, self.hosts.exists(x, x.host == h)))",message="spec.ingress.tls[].hosts must be among spec.ingress.hosts[].host"
// +kubebuilder:validation:XValidation:rule="!(has(self.issuer) && has(self.clusterIssuer))",message="spec.ingress takes issuer or clusterIssuer, not both"
type Ingress struct {
	// ClassName is the IngressClass that serves it. Defaults to the cluster's default class.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClassName *string `json:"className,omitempty"`

	// Annotations of the Ingress.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Hosts are the host names and their paths.
	// +listType=map
	// +listMapKey=host
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Hosts []IngressHost `json:"hosts"`

	// TLS lists the certificates to serve, each from a Secret.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	TLS []IngressTLS `json:"tls,omitempty"`

	// Issuer is the cert-manager Issuer, in the same namespace, that makes the certificates.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Issuer string `json:"issuer,omitempty"`

	// ClusterIssuer is the cert-manager ClusterIssuer that makes the certificates.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClusterIssuer string `json:"clusterIssuer,omitempty"`
}

// IngressHost is one host name and what is served under it.
type IngressHost struct {
	// Host is a DNS name; *.example.com stands for one label.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Host string `json:"host"`

	// Paths under this host. Defaults to everything under /, sent to the first port.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Paths []IngressPath `json:"paths,omitempty"`
}

// IngressPath sends one path to one port.
type IngressPath struct {
	// Path to match. Defaults to /.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^\s]*$`
	// +optional
	Path string `json:"path,omitempty"`

	// PathType says how path is matched. Defaults to Prefix.
	// +kubebuilder:validation:Enum=Exact;Prefix;ImplementationSpecific
	// +optional
	PathType networkingv1.PathType `json:"pathType,omitempty"`

	// Port is the port of an entry in spec.ports. Defaults to the first.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// IngressTLS is one certificate and the hosts that it serves.
type IngressTLS struct {
	// SecretName is the Secret that holds the certificate. cert-manager makes it when an issuer is set.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// Hosts that the certificate serves, each among spec.ingress.hosts.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	Hosts []string `json:"hosts"`
}

// ConfigValue is the text of one configuration entry.
//
// +kubebuilder:validation:MaxLength=131072
type ConfigValue string

// Config is the configuration of the application.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.databaseUrl) && has(self.databaseUrlFrom))",message="spec.config takes databaseUrl or databaseUrlFrom, not both"
type Config struct {
	// Environment is kept in ConfigMap <name>-config and given to the main container as environment variables.
	// At most 64 entries and 128 KiB together.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.map(k, size(self[k])).sum() <= 131072",message="spec.config.environment must not hold more than 128 KiB together"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(k) <= 253 && k.matches('^[A-Za-z_][A-Za-z0-9_.-]*$'))",message="spec.config.environment keys must be names of environment variables: letters, digits, '_', '.', '-', at most 253"
	// +optional
	Environment map[string]ConfigValue `json:"environment,omitempty"`

	// LogLevel is given to the application as environment variable LOG_LEVEL.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// DatabaseURL is kept in Secret <name>-config and given as environment variable DATABASE_URL.
	// Anyone who may read the AppService can read it: prefer databaseUrlFrom.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	DatabaseURL string `json:"databaseUrl,omitempty"`

	// DatabaseURLFrom names the key of a Secret that holds the URL, given as environment variable DATABASE_URL.
	// +optional
	DatabaseURLFrom *SecretKeySource `json:"databaseUrlFrom,omitempty"`
}

// SecretKeySource takes a value from a Secret in the same namespace.
type SecretKeySource struct {
	// SecretKeyRef names the Secret and the key in it.
	SecretKeyRef corev1.SecretKeySelector `json:"secretKeyRef"`
}

// AppService runs one web service: it becomes a Deployment, a Service, an Ingress and what else the service needs, all
// of its name, and all deleted with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=appservices,scope=Namespaced,shortName=appsvc,categories=all
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Replicas",type=string,JSONPath=`.status.readiness`,description="Ready replicas of those wanted"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 53 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be at most 53 characters: lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit"
type AppService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is wanted.
	Spec AppServiceSpec `json:"spec"`

	// Status is what is there, written by the operator.
	// +optional
	Status AppServiceStatus `json:"status,omitempty"`
}

// AppServiceList is a list of AppServices.
//
// +kubebuilder:object:root=true
type AppServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AppService `json:"items"`
}
