package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ConfigValue is the text of one configuration entry.
//
// +kubebuilder:validation:MaxLength=32768
type ConfigValue string

// Config is the configuration of the application: at most 64 entries and 32 KiB together.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.databaseUrl) && has(self.databaseUrlFrom))",message="spec.config takes databaseUrl or databaseUrlFrom, not both"
// +kubebuilder:validation:XValidation:rule="(has(self.environment) ? size(self.environment) : 0) + (has(self.files) ? size(self.files) : 0) <= 64",message="spec.config.environment and files must not have more than 64 entries together"
// +kubebuilder:validation:XValidation:rule="(has(self.environment) ? self.environment.map(k, size(self.environment[k])).sum() : 0) + (has(self.files) ? self.files.map(k, size(self.files[k])).sum() : 0) <= 32768",message="spec.config.environment and files must not hold more than 32 KiB together: put larger files into a ConfigMap of your own, and mount it with spec.volumes and spec.volumeMounts"
type Config struct {
	// Environment is kept in ConfigMap <name>-config and given to the main container as environment variables.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(k) <= 253 && k.matches('^[A-Za-z_][A-Za-z0-9_.-]*$'))",message="spec.config.environment keys must be names of environment variables: letters, digits, '_', '.', '-', at most 253"
	// +optional
	Environment map[string]ConfigValue `json:"environment,omitempty"`

	// Generated are environment variables of the main container whose values the operator makes once, at random, and keeps
	// in Secret <name>-generated. A value never changes, unless its key is deleted from that Secret: then it is made
	// again, and the pods roll. The key of an entry that is removed stays in the Secret. spec.envs take precedence.
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(k) <= 253 && k.matches('^[A-Za-z_][A-Za-z0-9_.-]*$'))",message="spec.config.generated keys must be names of environment variables: letters, digits, '_', '.', '-', at most 253"
	// +kubebuilder:validation:XValidation:rule="self.map(k, size(k) + 1).sum() <= 1000",message="spec.config.generated keys must not have more than 1000 characters together: shorten them"
	// +optional
	Generated map[string]GeneratedValue `json:"generated,omitempty"`

	// RetainGenerated keeps Secret <name>-generated when the AppService is deleted. One of the same name takes it again by
	// annotation app.example.com/adopt: "true".
	// +optional
	RetainGenerated bool `json:"retainGenerated,omitempty"`

	// LogLevel is given to the application as environment variable LOG_LEVEL.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// DatabaseURL is stored in Secret <name>-config and set as environment variable DATABASE_URL. Anyone who may read the
	// AppService can read it: prefer databaseUrlFrom.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	DatabaseURL string `json:"databaseUrl,omitempty"`

	// DatabaseURLFrom names the key of a Secret that holds the URL, given as environment variable DATABASE_URL.
	// +optional
	DatabaseURLFrom *SecretKeySource `json:"databaseUrlFrom,omitempty"`

	// Files are kept in ConfigMap <name>-files and mounted into the main container, each under its name.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) > 0 && size(k) <= 253 && k.matches('^[A-Za-z0-9_][A-Za-z0-9_.-]*$'))",message="spec.config.files keys must be file names: letters, digits, '_', '.', '-', at most 253"
	// +optional
	Files map[string]ConfigValue `json:"files,omitempty"`

	// MountPath is the folder that the files appear in. Defaults to /etc/config.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	MountPath string `json:"mountPath,omitempty"`
}

// GeneratedValue is a value that the operator makes at random.
type GeneratedValue struct {
	// Bytes is the number of random bytes. Defaults to 32.
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=1024
	// +optional
	Bytes *int32 `json:"bytes,omitempty"`

	// Encoding says how they are written: hex with two characters for each, base64 with four for three, alphanumeric with
	// one letter or digit for each. Defaults to alphanumeric.
	// +kubebuilder:validation:Enum=hex;base64;alphanumeric
	// +optional
	Encoding string `json:"encoding,omitempty"`
}

// SecretKeySource takes a value from a Secret in the same namespace.
//
// +kubebuilder:validation:XValidation:rule="size(self.secretKeyRef.key) <= 253 && self.secretKeyRef.key.matches('^[-._a-zA-Z0-9]+$')",message="spec.config.databaseUrlFrom.secretKeyRef.key must be the key of a Secret: letters, digits, '-', '_', '.', at most 253"
type SecretKeySource struct {
	// SecretKeyRef names the Secret and the key in it.
	SecretKeyRef corev1.SecretKeySelector `json:"secretKeyRef"`
}

// Probes of the main container.
//
// +kubebuilder:validation:XValidation:rule="(!has(self.liveness) || !has(self.liveness.successThreshold) || self.liveness.successThreshold == 1) && (!has(self.startup) || !has(self.startup.successThreshold) || self.startup.successThreshold == 1)",message="spec.probes.liveness and startup take a successThreshold of 1 only"
// +kubebuilder:validation:XValidation:rule="!has(self.readiness) || !has(self.readiness.terminationGracePeriodSeconds)",message="spec.probes.readiness.terminationGracePeriodSeconds must be left out: a readiness probe that fails stops nothing"
// +kubebuilder:validation:XValidation:rule="!has(self.startupSeconds) || !has(self.startup)",message="spec.probes takes startup or startupSeconds, not both"
type Probes struct {
	// Liveness: the container is started again when it fails.
	// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.grpc), has(self.exec)].filter(x, x).size() == 1",message="spec.probes.liveness takes exactly one of httpGet, tcpSocket, grpc and exec"
	// +optional
	Liveness *Probe `json:"liveness,omitempty"`

	// Readiness: the pod gets no traffic while it fails. Without an action of its own, it connects to the first TCP port
	// of spec.ports, by default every 2 seconds, and fails after 30.
	// +optional
	Readiness *ReadinessProbe `json:"readiness,omitempty"`

	// Startup: the others wait until it has succeeded once.
	// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.grpc), has(self.exec)].filter(x, x).size() == 1",message="spec.probes.startup takes exactly one of httpGet, tcpSocket, grpc and exec"
	// +optional
	Startup *Probe `json:"startup,omitempty"`

	// StartupSeconds is how long the main container may take to start. It adds a startup probe with the same check as the
	// readiness probe, or on the first TCP port if there is none.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	StartupSeconds *int32 `json:"startupSeconds,omitempty"`
}

// ReadinessProbe is a probe that connects to the first TCP port unless another action is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.grpc), has(self.exec)].filter(x, x).size() <= 1",message="spec.probes.readiness takes one of httpGet, tcpSocket, grpc and exec at most"
// +kubebuilder:validation:XValidation:rule="!has(self.none) || !self.none || ![has(self.httpGet), has(self.tcpSocket), has(self.grpc), has(self.exec), has(self.initialDelaySeconds), has(self.periodSeconds), has(self.timeoutSeconds), has(self.successThreshold), has(self.failureThreshold)].exists(x, x)",message="spec.probes.readiness.none turns the probe off: leave out either none or the rest of spec.probes.readiness"
type ReadinessProbe struct {
	// None turns the probe off: pods get traffic as soon as they run.
	// +optional
	None bool `json:"none,omitempty"`

	Probe `json:",inline"`
}

// Probe is a probe as in a Pod, except that a port may be left out: then it is the first one.
type Probe struct {
	// HTTPGet succeeds when the answer has a status from 200 to 399.
	// +optional
	HTTPGet *HTTPGetProbe `json:"httpGet,omitempty"`

	// TCPSocket succeeds when the port can be connected to.
	// +optional
	TCPSocket *TCPSocketProbe `json:"tcpSocket,omitempty"`

	// GRPC asks the gRPC health service.
	// +optional
	GRPC *GRPCProbe `json:"grpc,omitempty"`

	// Exec succeeds when the command exits with 0.
	// +optional
	Exec *corev1.ExecAction `json:"exec,omitempty"`

	// InitialDelaySeconds is how long to wait before the first probe.
	// +kubebuilder:validation:Minimum=0
	// +optional
	InitialDelaySeconds *int32 `json:"initialDelaySeconds,omitempty"`

	// PeriodSeconds is the time between probes. Defaults to 10.
	// +kubebuilder:validation:Minimum=1
	// +optional
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// TimeoutSeconds is how long an answer may take. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// SuccessThreshold is how often it must succeed in a row. Defaults to 1, which is all that liveness and startup take.
	// +kubebuilder:validation:Minimum=1
	// +optional
	SuccessThreshold *int32 `json:"successThreshold,omitempty"`

	// FailureThreshold is how often it must fail in a row. Defaults to 3.
	// +kubebuilder:validation:Minimum=1
	// +optional
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`

	// TerminationGracePeriodSeconds is how long the pod may take to stop after a failed probe. Not for readiness.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// HTTPGetProbe asks by HTTP.
type HTTPGetProbe struct {
	// Path to ask for. Defaults to /.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Path string `json:"path,omitempty"`

	// Port to ask, by number or name. Defaults to the first target port.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`

	// Scheme to ask with. Defaults to HTTP.
	// +kubebuilder:validation:Enum=HTTP;HTTPS
	// +optional
	Scheme corev1.URIScheme `json:"scheme,omitempty"`

	// HTTPHeaders of the request.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	HTTPHeaders []corev1.HTTPHeader `json:"httpHeaders,omitempty"`
}

// TCPSocketProbe connects to a port.
type TCPSocketProbe struct {
	// Port to connect to, by number or name. Defaults to the first target port.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
}

// GRPCProbe asks the gRPC health service.
type GRPCProbe struct {
	// Port to ask. Defaults to the first target port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Service to ask about.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Service *string `json:"service,omitempty"`
}

// ServiceAccount is the identity of the pods. Without a name, an account is created for them; a name alone refers to an
// existing account. Without serviceAccount, they use the namespace's default account, without its token.
//
// +kubebuilder:validation:XValidation:rule="!has(self.annotations) || size(self.annotations) == 0 || (has(self.create) ? self.create : !has(self.name) || size(self.name) == 0)",message="spec.serviceAccount.annotations are those of an account that is created: set spec.serviceAccount.create to true, or leave out create and name"
type ServiceAccount struct {
	// Create a ServiceAccount for this service alone, or, if false, none. By default one is created if name is left out.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Create the service account",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	Create *bool `json:"create,omitempty"`

	// Name of the ServiceAccount. Defaults to that of the AppService if it is created, else to default.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`

	// Annotations of a ServiceAccount that is created, for example to bind it to an identity of a cloud.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/'))",message="spec.serviceAccount.annotations must not have keys that begin with app.example.com/, helm.sh/ or meta.helm.sh/: the operator and Helm set them"
	// +optional
	Annotations map[string]Annotation `json:"annotations,omitempty"`

	// AutomountToken mounts a token of the account for the Kubernetes API into the pods.
	// +optional
	AutomountToken bool `json:"automountToken,omitempty"`
}

// Security restricts the pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.container) || !has(self.container.privileged) || !self.container.privileged",message="spec.security.container must not be privileged"
// +kubebuilder:validation:XValidation:rule="!has(self.container) || !has(self.container.capabilities) || !has(self.container.capabilities.add) || self.container.capabilities.add.all(c, c in ['AUDIT_WRITE','CHOWN','DAC_OVERRIDE','FOWNER','FSETID','KILL','MKNOD','NET_BIND_SERVICE','SETFCAP','SETGID','SETPCAP','SETUID','SYS_CHROOT'])",message="spec.security.container.capabilities.add may only name those of Pod Security Baseline"
// +kubebuilder:validation:XValidation:rule="(!has(self.container) || !has(self.container.seccompProfile) || self.container.seccompProfile.type != 'Unconfined') && (!has(self.pod) || !has(self.pod.seccompProfile) || self.pod.seccompProfile.type != 'Unconfined')",message="spec.security must not set seccompProfile Unconfined"
// +kubebuilder:validation:XValidation:rule="self.?profile.orValue('Baseline') != 'Restricted' || (self.?pod.?runAsNonRoot.orValue(true) && self.?pod.?runAsUser.orValue(1) != 0 && self.?container.?runAsNonRoot.orValue(true) && self.?container.?runAsUser.orValue(1) != 0 && !self.?container.?allowPrivilegeEscalation.orValue(false))",message="spec.security.profile Restricted excludes runAsNonRoot false and runAsUser 0 in pod and container, and allowPrivilegeEscalation in container: leave them out, or set profile to Baseline"
// +kubebuilder:validation:XValidation:rule="!has(self.profile) || self.profile != 'Restricted' || !has(self.container) || !has(self.container.capabilities) || !has(self.container.capabilities.add) || self.container.capabilities.add.all(c, c in ['NET_BIND_SERVICE'])",message="spec.security.profile Restricted excludes all of spec.security.container.capabilities.add but NET_BIND_SERVICE: leave them out, or set profile to Baseline"
type Security struct {
	// Profile Baseline lets images run as root; Restricted is the Pod Security standard of that name: no other field may
	// go below it, and neither may sidecars, initContainers and podTemplate. If the namespace enforces restricted, the
	// profile is Restricted in any case. Defaults to Baseline.
	// +kubebuilder:validation:Enum=Baseline;Restricted
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Security profile",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:select:Restricted","urn:alm:descriptor:com.tectonic.ui:select:Baseline"}
	Profile string `json:"profile,omitempty"`

	// Pod refines the security context of the pods. It may not go below the profile.
	// +optional
	Pod *corev1.PodSecurityContext `json:"pod,omitempty"`

	// Container refines the security context of the main container. It may not go below the profile.
	// +optional
	Container *ContainerSecurity `json:"container,omitempty"`
}

// ContainerSecurity is the security context of a container, with the field names of a Pod's.
type ContainerSecurity struct {
	// RunAsUser is the user ID that the container runs as. Defaults to the image's.
	// +kubebuilder:validation:Minimum=0
	// +optional
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// RunAsGroup is the group ID that the container runs as. Defaults to the image's.
	// +kubebuilder:validation:Minimum=0
	// +optional
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`

	// RunAsNonRoot refuses to run an image as root.
	// +optional
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`

	// ReadOnlyRootFilesystem forbids the container to write anywhere but to volumes.
	// +optional
	ReadOnlyRootFilesystem *bool `json:"readOnlyRootFilesystem,omitempty"`

	// AllowPrivilegeEscalation lets a process gain more rights than its parent has. Defaults to false.
	// +optional
	AllowPrivilegeEscalation *bool `json:"allowPrivilegeEscalation,omitempty"`

	// Privileged containers are refused.
	// +optional
	Privileged *bool `json:"privileged,omitempty"`

	// Capabilities that the container gets besides those of its runtime, or loses.
	// +optional
	Capabilities *Capabilities `json:"capabilities,omitempty"`

	// SeccompProfile of the container. Defaults to that of the pod, RuntimeDefault.
	// +optional
	SeccompProfile *corev1.SeccompProfile `json:"seccompProfile,omitempty"`

	// SELinuxOptions of the container.
	// +optional
	SELinuxOptions *corev1.SELinuxOptions `json:"seLinuxOptions,omitempty"`

	// AppArmorProfile of the container.
	// +optional
	AppArmorProfile *corev1.AppArmorProfile `json:"appArmorProfile,omitempty"`
}

// Capabilities of a container, without the prefix CAP_.
type Capabilities struct {
	// Add these. Only those of Pod Security Baseline are allowed.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Add []corev1.Capability `json:"add,omitempty"`

	// Drop these; ALL drops all.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Drop []corev1.Capability `json:"drop,omitempty"`
}
