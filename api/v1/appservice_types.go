package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppServiceSpec describes a web service: its program, how it is reached and configured, and how it is kept running.
//
// +kubebuilder:validation:XValidation:rule="!has(self.ingress) || (has(self.ports) && size(self.ports) > 0)",message="spec.ingress needs at least one entry in spec.ports to send traffic to"
// +kubebuilder:validation:XValidation:rule="!has(self.route) || (has(self.ports) && size(self.ports) > 0)",message="spec.route needs at least one entry in spec.ports to send traffic to"
// +kubebuilder:validation:XValidation:rule="!has(self.monitoring) || !has(self.monitoring.enabled) || !self.monitoring.enabled || (has(self.ports) && size(self.ports) > 0)",message="spec.monitoring needs at least one entry in spec.ports to scrape"
// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, !has(p.targetPort) || type(p.targetPort) == int || self.ports.exists(q, has(q.name) && q.name == p.targetPort && (!has(q.targetPort) || type(q.targetPort) == int) && q.protocol == p.protocol) || (has(self.sidecars) && self.sidecars.exists(s, has(s.ports) && s.ports.exists(c, has(c.name) && c.name == p.targetPort && c.protocol == p.protocol))))",message="spec.ports[].targetPort must be a number, or name a port in spec.sidecars[].ports, or another entry of spec.ports whose targetPort is a number, of the same protocol"
// +kubebuilder:validation:XValidation:rule="!has(self.ingress) || !has(self.ports) || self.ingress.hosts.all(h, !has(h.paths) || h.paths.all(p, !has(p.port) || self.ports.exists(q, q.port == p.port)))",message="spec.ingress.hosts[].paths[].port must be the port of an entry in spec.ports"
// +kubebuilder:validation:XValidation:rule="!has(self.route) || !has(self.ports) || !has(self.route.rules) || self.route.rules.all(r, !has(r.port) || self.ports.exists(q, q.port == r.port))",message="spec.route.rules[].port must be the port of an entry in spec.ports"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.type) || self.service.type != 'ClusterIP' || !has(self.ports) || self.ports.all(p, !has(p.nodePort))",message="spec.ports[].nodePort needs spec.service.type NodePort or LoadBalancer: leave one of them out"
// +kubebuilder:validation:XValidation:rule="!has(self.podDisruptionBudget) || !(has(self.podDisruptionBudget.minAvailable) && has(self.podDisruptionBudget.maxUnavailable))",message="spec.podDisruptionBudget takes minAvailable or maxUnavailable, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.minReadySeconds) || self.minReadySeconds < (has(self.progressDeadlineSeconds) ? self.progressDeadlineSeconds : 600)",message="spec.minReadySeconds must be less than progressDeadlineSeconds, which defaults to 600"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.clusterIP) || !has(self.ports) || self.ports.all(p, !has(p.nodePort))",message="spec.service.clusterIP None and spec.ports[].nodePort exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.monitoring) || !has(self.monitoring.port) || !has(self.ports) || self.ports.exists(p, p.port == self.monitoring.port)",message="spec.monitoring.port must be the port of an entry in spec.ports"
// +kubebuilder:validation:XValidation:rule="!has(self.probes) || (has(self.ports) && size(self.ports) > 0) || [?dyn(self.probes).?liveness, ?dyn(self.probes).?readiness, ?dyn(self.probes).?startup].all(p, (!has(p.httpGet) || has(p.httpGet.port)) && (!has(p.tcpSocket) || has(p.tcpSocket.port)) && (!has(p.grpc) || has(p.grpc.port)))",message="spec.probes needs a port in each httpGet, tcpSocket and grpc, or at least one entry in spec.ports to take it from"
// +kubebuilder:validation:XValidation:rule="!has(self.probes) || !has(self.probes.readiness) || (has(self.probes.readiness.none) && self.probes.readiness.none) || [has(self.probes.readiness.httpGet), has(self.probes.readiness.tcpSocket), has(self.probes.readiness.grpc), has(self.probes.readiness.exec)].exists(x, x) || (has(self.ports) && self.ports.exists(p, p.protocol == 'TCP'))",message="spec.probes.readiness needs one of httpGet, tcpSocket, grpc and exec, or a TCP port in spec.ports to connect to"
// +kubebuilder:validation:XValidation:rule="!has(self.probes) || !has(self.probes.startupSeconds) || (has(self.probes.readiness) && [has(self.probes.readiness.httpGet), has(self.probes.readiness.tcpSocket), has(self.probes.readiness.grpc), has(self.probes.readiness.exec)].exists(x, x)) || (has(self.ports) && self.ports.exists(p, p.protocol == 'TCP'))",message="spec.probes.startupSeconds needs one of httpGet, tcpSocket, grpc and exec in spec.probes.readiness, or a TCP port in spec.ports to connect to"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.externalTrafficPolicy) || (has(self.service.type) ? self.service.type != 'ClusterIP' : has(self.ports) && self.ports.exists(p, has(p.nodePort)))",message="spec.service.externalTrafficPolicy needs spec.service.type NodePort or LoadBalancer, or a nodePort in spec.ports"
// +kubebuilder:validation:XValidation:rule="!has(self.initContainers) || !has(self.sidecars) || self.initContainers.all(c, !self.sidecars.exists(s, s.name == c.name))",message="spec.initContainers[].name and spec.sidecars[].name must differ: rename one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || self.volumeMounts.all(m, (!has(self.persistence) || m.mountPath != self.persistence.mountPath) && (!has(self.config) || !has(self.config.files) || size(self.config.files) == 0 || m.mountPath != self.config.?mountPath.orValue('/etc/config')))",message="spec.volumeMounts[].mountPath must not be spec.persistence.mountPath, nor spec.config.mountPath, which defaults to /etc/config"
// +kubebuilder:validation:XValidation:rule="!has(self.persistence) || !has(self.config) || !has(self.config.files) || size(self.config.files) == 0 || self.persistence.mountPath != self.config.?mountPath.orValue('/etc/config')",message="spec.persistence.mountPath must not be spec.config.mountPath, which defaults to /etc/config"
// +kubebuilder:validation:XValidation:rule="!has(self.volumes) || self.volumes.all(v, (v.name != 'data' || !has(self.persistence)) && (v.name != 'config-files' || !has(self.config) || !has(self.config.files) || size(self.config.files) == 0))",message="spec.volumes[].name must not be data if spec.persistence is set, nor config-files if spec.config.files is set: these fields create volumes of these names"
// +kubebuilder:validation:XValidation:rule="self.?persistence.?perReplica.orValue(false) == oldSelf.?persistence.?perReplica.orValue(false)",message="spec.persistence.perReplica cannot be changed, since replicas would lose what they stored: docs/convert-workload.md is the recipe that changes it, without a loss of data"
// +kubebuilder:validation:XValidation:rule="!self.?persistence.?perReplica.orValue(false) || !has(self.strategy)",message="spec.strategy has no effect with spec.persistence.perReplica, which replaces replicas one after the other: leave it out"
// +kubebuilder:validation:XValidation:rule="!has(self.access) || !has(self.networkPolicy) || (has(self.networkPolicy.enabled) && self.networkPolicy.enabled)",message="spec.access needs a NetworkPolicy: set spec.networkPolicy.enabled to true, or leave spec.networkPolicy out"
// +kubebuilder:validation:XValidation:rule="!has(self.access) || !has(self.access.from) || size(self.access.from) == 0 || (has(self.ports) && size(self.ports) > 0)",message="spec.access.from needs at least one entry in spec.ports: callers need a port"
// +kubebuilder:validation:XValidation:rule="!has(self.ttl) || !has(self.persistence) || has(self.persistence.retain)",message="spec.persistence.retain must be set with spec.ttl: false deletes the data with the AppService, true keeps the PersistentVolumeClaim"
// +kubebuilder:validation:XValidation:rule="(has(self.envs) ? size(self.envs) : 0) + (has(self.sidecars) ? self.sidecars.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) + (has(self.initContainers) ? self.initContainers.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) <= 256",message="spec.envs, spec.sidecars[].env and spec.initContainers[].env must not have more than 256 entries together: put more of them into a ConfigMap of your own, and take it with envFrom"
type AppServiceSpec struct {
	// Size is the number of replicas to run. 0 stops the service and keeps everything else. With autoscaling, it is only
	// the initial number.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Size",order=2,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podCount"}
	Size *int32 `json:"size,omitempty"`

	// Image is the container image to run, for example registry.example.com/team/web:1.2.3.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image",order=1,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Image string `json:"image"`

	// ImagePullPolicy is when the image is pulled. Defaults to Always for the tag latest, else to IfNotPresent.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image pull policy",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:imagePullPolicy","urn:alm:descriptor:com.tectonic.ui:advanced"}
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets name the Secrets with which images are pulled.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image pull secrets",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ImagePullSecrets []LocalReference `json:"imagePullSecrets,omitempty"`

	// Command replaces the entry point of the image.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Command",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Command []string `json:"command,omitempty"`

	// Args are the arguments of the entry point.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Arguments",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Args []string `json:"args,omitempty"`

	// WorkingDir is the folder in which the entry point starts. Defaults to the image's.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Working directory",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"}
	WorkingDir string `json:"workingDir,omitempty"`

	// Resources are the compute resources of the main container. A request may not exceed its limit.
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || ['cpu','memory','ephemeral-storage'].all(r, !(r in self.requests) || !(r in self.limits) || [self.requests[r], self.limits[r]].exists(q, string(q).contains('e') || string(q).contains('E')) || !quantity(string(self.requests[r])).isGreaterThan(quantity(string(self.limits[r]))))",message="spec.resources.requests must not exceed spec.resources.limits (cpu, memory, ephemeral-storage)"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Resources",order=4,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:resourceRequirements"}
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Envs are environment variables of the main container, taken literally. Names are unique. If there are ports, PORT is
	// set to the first target port, unless it is set here or in config.environment.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Environment variables",order=5
	Envs []corev1.EnvVar `json:"envs,omitempty"`

	// EnvFrom takes all entries of ConfigMaps and Secrets as environment variables of the main container. Variables with
	// names of their own take precedence: envs, and PORT if there are ports.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Environment from",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// Config is the configuration of the application, given to it as environment variables and files. A change rolls the
	// pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Configuration",order=6
	Config *Config `json:"config,omitempty"`

	// Release is a task that runs before each new version, such as the migration of a database: a Job with the new image,
	// before any pod of the new version. The rollout waits for it; if it fails, the previous version serves on.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Release task",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Release *ReleaseTask `json:"release,omitempty"`

	// Lifecycle has the hooks of the main container. If there are ports, preStop defaults to a pause of 5 seconds, in
	// which the pod still answers while it is taken out of load balancing, so that rolling updates drop no request.
	// +kubebuilder:validation:XValidation:rule="!has(self.stopSignal)",message="spec.lifecycle.stopSignal is not supported: let the image name its signal"
	// +kubebuilder:validation:XValidation:rule="!has(self.postStart) || !has(self.postStart.httpGet) || !has(self.postStart.httpGet.host)",message="spec.lifecycle.postStart.httpGet.host must be left out: hooks always call the pod itself"
	// +kubebuilder:validation:XValidation:rule="!has(self.preStop) || !has(self.preStop.httpGet) || !has(self.preStop.httpGet.host)",message="spec.lifecycle.preStop.httpGet.host must be left out: hooks always call the pod itself"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Lifecycle",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`

	// Probes check whether the main container has started, is ready and is alive.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Probes",order=9
	Probes *Probes `json:"probes,omitempty"`

	// InitContainers run one after the other before the main container starts.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.name != 'app')",message="spec.initContainers[].name must not be app: that is the main container"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",message="spec.initContainers[] must not be privileged"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.restartPolicy))",message="spec.initContainers[].restartPolicy must be left out: use spec.sidecars"
	// +kubebuilder:validation:XValidation:rule="self.all(c, (!has(c.envFrom) || size(c.envFrom) <= 32) && (!has(c.command) || size(c.command) <= 64) && (!has(c.args) || size(c.args) <= 256) && (!has(c.ports) || size(c.ports) <= 32) && (!has(c.volumeMounts) || size(c.volumeMounts) <= 64) && (!has(c.volumeDevices) || size(c.volumeDevices) <= 64))",message="spec.initContainers[] must not have more than 32 entries in envFrom and ports, 64 in command, volumeMounts and volumeDevices, and 256 in args: move more into the image or a ConfigMap"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Init containers",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// Sidecars run alongside the main container; they start before it and stop after it.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.name != 'app')",message="spec.sidecars[].name must not be app: that is the main container"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",message="spec.sidecars[] must not be privileged"
	// +kubebuilder:validation:XValidation:rule="self.all(c, (!has(c.envFrom) || size(c.envFrom) <= 32) && (!has(c.command) || size(c.command) <= 64) && (!has(c.args) || size(c.args) <= 256) && (!has(c.ports) || size(c.ports) <= 32) && (!has(c.volumeMounts) || size(c.volumeMounts) <= 64) && (!has(c.volumeDevices) || size(c.volumeDevices) <= 64))",message="spec.sidecars[] must not have more than 32 entries in envFrom and ports, 64 in command, volumeMounts and volumeDevices, and 256 in args: move more into the image or a ConfigMap"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Sidecars",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Sidecars []corev1.Container `json:"sidecars,omitempty"`

	// ServiceAccount is the identity of the pods: without a name an account of their own, which is created. Defaults to
	// the namespace's default account, without a token.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service account",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ServiceAccount *ServiceAccount `json:"serviceAccount,omitempty"`

	// Security restricts the pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Security",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Security *Security `json:"security,omitempty"`

	// Ports are the ports that the service offers. None means no Service. Any nodePort makes it a NodePort Service, unless
	// service.type is set.
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="spec.ports[].name must be unique"
	// +kubebuilder:validation:XValidation:rule="size(self) <= 1 || self.all(p, has(p.name))",message="spec.ports[].name is required when there is more than one port"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Ports",order=3
	Ports []Port `json:"ports,omitempty"`

	// Service refines the Service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Service *Service `json:"service,omitempty"`

	// Services are further Services of the same pods: headless ones, of another type, under other names or numbers.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Further Services",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Services []FurtherService `json:"services,omitempty"`

	// Ingress makes the service reachable by host name from outside the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Ingress",order=7
	Ingress *Ingress `json:"ingress,omitempty"`

	// Route makes the service reachable through a Gateway, by an HTTPRoute.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Route",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Route *Route `json:"route,omitempty"`

	// NetworkPolicy limits who may connect to the pods, and whom they may connect to.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Network policy",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// Access lists, by name, who may reach the pods and whom the pods may reach.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Access",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Access *Access `json:"access,omitempty"`

	// HostAliases are further lines of the pods' hosts file.
	// +listType=map
	// +listMapKey=ip
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Host aliases",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// DNSConfig refines how the pods resolve names.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="DNS configuration",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`

	// Volumes of the pods. Paths of the node (hostPath) are refused. persistence makes a volume data, config.files one
	// config-files, and each claim one of its name.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(v, !has(v.hostPath))",message="spec.volumes[].hostPath is not allowed: use another kind of volume"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volumes",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// VolumeMounts are the volume mounts of the main container.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(m, !has(m.mountPropagation) || m.mountPropagation != 'Bidirectional')",message="spec.volumeMounts[].mountPropagation must not be Bidirectional: that is for privileged containers"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volume mounts",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// Persistence gives the service a volume that lasts.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Persistence",order=10
	Persistence *Persistence `json:"persistence,omitempty"`

	// Claims are further volumes that last, beside persistence.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Claims",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Claims []Claim `json:"claims,omitempty"`

	// StatefulSet makes the workload a StatefulSet, with or without claims; {} is enough. It cannot be added or removed
	// afterwards. The field strategy has no effect then.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="StatefulSet",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	StatefulSet *StatefulSet `json:"statefulSet,omitempty"`

	// NodeSelector names the labels that a node must have.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Node selector",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	NodeSelector map[string]Label `json:"nodeSelector,omitempty"`

	// Tolerations let pods run on nodes with taints.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Tolerations",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity draws pods to nodes and to other pods, or keeps them away.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Affinity",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// TopologySpreadConstraints spread pods. Defaults to spreading over zones and nodes as far as possible.
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=16
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Topology spread constraints",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// PriorityClassName is the priority class of the pods, which decides who is scheduled first if resources are short.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Priority class",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"}
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Autoscaling lets the number of replicas follow the load.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Autoscaling",order=8
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// PodDisruptionBudget limits how many pods are evicted at a time. By default it is one, when at least 2 replicas are
	// kept.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pod disruption budget",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	PodDisruptionBudget *PodDisruptionBudget `json:"podDisruptionBudget,omitempty"`

	// Strategy is how pods of a new version replace those of the old one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Update strategy",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:updateStrategy","urn:alm:descriptor:com.tectonic.ui:advanced"}
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// MinReadySeconds is how long a pod must be ready before it counts as available.
	// +kubebuilder:validation:Minimum=0
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Minimum ready seconds",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// ProgressDeadlineSeconds is how long a rollout may make no progress before it counts as stalled. Defaults to 600.
	// +kubebuilder:validation:Minimum=1
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Progress deadline seconds",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// RevisionHistoryLimit is how many old ReplicaSets are kept. Defaults to 10.
	// +kubebuilder:validation:Minimum=0
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Revision history limit",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// TerminationGracePeriodSeconds is how long a pod may take to stop. Defaults to 30.
	// +kubebuilder:validation:Minimum=0
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Termination grace period seconds",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Monitoring lets the Prometheus operator scrape the service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Monitoring",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// PodLabels are further labels of the pods. The selector is never made of them.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','pod-template-hash','controller-revision-hash']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/')))",message="spec.podLabels has a reserved key: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version",messageExpression="'spec.podLabels: key ' + self.filter(k, !(!(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','pod-template-hash','controller-revision-hash']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/'))))[0] + ' is reserved: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version'"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pod labels",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	PodLabels map[string]Label `json:"podLabels,omitempty"`

	// PodAnnotations are further annotations of the pods.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/'))",message="spec.podAnnotations must not have keys that begin with app.example.com/, helm.sh/ or meta.helm.sh/: the operator and Helm set them"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pod annotations",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	PodAnnotations map[string]Annotation `json:"podAnnotations,omitempty"`

	// WorkloadAnnotations are further annotations of the Deployment, or of the StatefulSet that takes its place. Pods do
	// not get them, so that a change restarts nothing.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && !k.startsWith('deployment.kubernetes.io/') && k != 'kubectl.kubernetes.io/last-applied-configuration')",message="spec.workloadAnnotations has a reserved key: the operator, Helm, kubectl or Kubernetes sets it; remove it",messageExpression="'spec.workloadAnnotations: key ' + self.filter(k, !(!k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && !k.startsWith('deployment.kubernetes.io/') && k != 'kubectl.kubernetes.io/last-applied-configuration'))[0] + ' is reserved: the operator, Helm, kubectl or Kubernetes sets it; remove it'"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Workload annotations",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	WorkloadAnnotations map[string]Annotation `json:"workloadAnnotations,omitempty"`

	// PodTemplate is a strategic merge patch of the pods, at most 32 KiB of JSON, for settings without a field. It is
	// applied after all other fields, to each workload whose pods have the container app. The result has to meet the Pod
	// Security level.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pod template",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// CommonLabels are further labels of all objects, pods included. Selectors are never made of them.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.map(k, size(k) + size(self[k])).sum() <= 1024",message="spec.commonLabels must not have more than 1024 characters together, since each object has them: put more into spec.podLabels, or into annotations"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','app.kubernetes.io/managed-by','pod-template-hash','controller-revision-hash']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/')))",message="spec.commonLabels has a reserved key: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version",messageExpression="'spec.commonLabels: key ' + self.filter(k, !(!(k in ['app.kubernetes.io/name','app.kubernetes.io/instance','app.kubernetes.io/managed-by','pod-template-hash','controller-revision-hash']) && !k.startsWith('app.example.com/') && !k.startsWith('helm.sh/') && !k.startsWith('meta.helm.sh/') && (k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/'))))[0] + ' is reserved: remove it; use a domain of your own, or app.kubernetes.io/component, part-of or version'"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Common labels",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	CommonLabels map[string]Label `json:"commonLabels,omitempty"`

	// ReloadOnChange rolls the pods when a ConfigMap or Secret that the spec references changes. Defaults to true.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Reload on change",order=12,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	ReloadOnChange *bool `json:"reloadOnChange,omitempty"`

	// Paused leaves everything as it is: nothing is installed, upgraded or repaired. Deletion continues.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Paused",order=11,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	Paused bool `json:"paused,omitempty"`

	// OnFailure decides about a release that fails for a cause of its own. By default it stays, and the status says why.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="On failure",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	OnFailure *OnFailure `json:"onFailure,omitempty"`

	// TTL is how long the AppService lives, counted from its creation, in hours, minutes and seconds, for example 72h: it
	// is deleted then, with all that it became, also while it is paused. An event and a problem in the status warn before.
	// Raising it prolongs the life, removing it makes it last. From 1m to 8760h, a year.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="spec.ttl must be at least 1m and at most 8760h, a year"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Time to live",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"}
	TTL string `json:"ttl,omitempty"`
}

// Label is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type Label string

// Annotation is the value of an annotation.
//
// +kubebuilder:validation:MaxLength=16384
type Annotation string

// LocalReference names an object in the same namespace.
type LocalReference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// AppService runs one web service: it becomes a Deployment (or a StatefulSet), a Service, an Ingress and what else the
// service needs, all of its name, and all deleted with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=appservices,scope=Namespaced,shortName=appsvc,categories={all,appservice-kinds}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Replicas",type=string,JSONPath=`.status.readiness`,description="Ready replicas of the desired ones"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,priority=1
// +kubebuilder:printcolumn:name="Chart",type=string,JSONPath=`.status.release.chartVersion`,priority=1
// +kubebuilder:printcolumn:name="Chart Digest",type=string,JSONPath=`.status.release.chartDigest`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +operator-sdk:csv:customresourcedefinitions:displayName="App Service",resources={{AppService,v1},{ConfigMap,v1},{Deployment,v1},{HTTPRoute,v1},{HorizontalPodAutoscaler,v2},{Ingress,v1},{Job,v1},{NetworkPolicy,v1},{PersistentVolumeClaim,v1},{Pod,v1},{PodDisruptionBudget,v1},{ScaledObject,v1alpha1},{Secret,v1},{Service,v1},{ServiceAccount,v1},{ServiceMonitor,v1},{StatefulSet,v1}}
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 53 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be at most 53 characters: lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit"
type AppService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec describes the application.
	Spec AppServiceSpec `json:"spec"`

	// Status is the observed state, written by the operator.
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
