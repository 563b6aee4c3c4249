package explain

import (
	"regexp"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/proof"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// change is the side of the comparison on which a field is.
type change int

const (
	anyChange change = iota
	comes
	goes
	differs
)

const none = "(none)" // as proof.Brief prints it

func changeOf(d proof.Difference) change {
	switch {
	case d.Old == nil:
		return comes
	case d.New == nil:
		return goes
	}
	return differs
}

// rule explains a difference in a field of the object with a role.
type rule struct {
	role           string
	field          *regexp.Regexp
	of             change
	reason, remedy string
	// values is set if the note shows both values.
	values bool
	// kind of the resource that is made; empty for any.
	kind string
	// was are former values; empty for any.
	was string
}

func at(pattern string) *regexp.Regexp { return regexp.MustCompile("^" + pattern + "$") }

const (
	pods      = `spec\.template\.spec\.`
	container = `spec\.template\.spec\.(containers|initContainers)\[[^]]*\]\.`
	selects   = "a new one selects by its own labels, app.kubernetes.io/name and app.kubernetes.io/instance"
)

// ofKind are fields that go, or come, with the kind of a workload: the note on the kind says so.
var ofKind = at(`spec\.(serviceName|podManagementPolicy|updateStrategy|persistentVolumeClaimRetentionPolicy|ordinals|strategy|progressDeadlineSeconds|revisionHistoryLimit|minReadySeconds|backoffLimit|completions|parallelism|completionMode|podReplacementPolicy|suspend)(\..*)?`)

// rules are tried in order; the first that matches counts. A rule for what goes says what becomes of it: none may match
// a loss that matters without saying so.
var rules = []rule{
	{field: at(`.*\[[^]]*, entry \d+\].*`), of: goes, reason: "an entry before it has the same key, and what is applied lists each key once",
		remedy: "give it another key, or keep this object as it is, if it matters"},

	{role: roleTask, field: at(`spec\.activeDeadlineSeconds`), of: comes, reason: "a release task is ended after an hour", remedy: "set spec.release.timeoutSeconds if it takes longer"},
	{role: roleTask, field: at(`.*\.terminationMessagePolicy`), reason: "the last lines of a task that failed become its message", remedy: "nothing to do"},
	{role: roleTask, field: at(`spec\.ttlSecondsAfterFinished`), of: goes, reason: "the operator deletes the Job when the next one runs", remedy: "nothing to do"},
	{role: roleTask, field: at(`.*\.restartPolicy`), of: differs, reason: "each try has a pod of its own", remedy: "nothing to do"},
	{role: roleTask, field: at(`.*`), of: comes, reason: "a release task has it from the application, or by the chart", remedy: "nothing to do, or change it for the application"},
	{role: roleTask, field: at(`.*`), of: goes, reason: "a release task has the environment, the account, the volumes and the place of the application, and nothing else",
		remedy: "set it for the application, if it may have it"},
	{role: roleTask, field: at(`.*`), of: differs, reason: "a release task has that of the application", remedy: "change it for the application, if it may have the same", values: true},

	{role: "Service", field: at(`metadata\.name`), reason: "it leads to other workloads, too, and each AppService has a Service of its own",
		remedy: "keep a Service of the old name beside them as long as anyone uses that", values: true},
	{role: roleWorkload, field: at(`metadata\.name`), reason: "each run has a Job of its own", remedy: "nothing to do", values: true, kind: read.JobKind},
	{field: at(`metadata\.name`), reason: "what it becomes has its name", values: true},
	{role: "PersistentVolumeClaim", field: at(`metadata\.annotations\.helm\.sh/resource-policy`), of: comes,
		reason: "the claim, and its data, stay when the AppService is deleted", remedy: "nothing to do"},
	{role: roleWorkload, field: at(`metadata\.annotations\.checksum/.*`), of: goes,
		reason: "pods are replaced automatically when a ConfigMap or Secret that they refer to changes (spec.reloadOnChange)", remedy: "nothing to do", kind: v1.Kind},
	{field: at(`metadata\.annotations\..*`), of: goes, reason: "no field sets annotations of this object",
		remedy: "set it by hand: the operator leaves what others add"},

	{role: roleWorkload, field: at(`spec\.selector`), of: differs, reason: selects,
		remedy: "nothing to do: an AppService that adopts it keeps the selector of the running workload", kind: v1.Kind},
	{role: roleWorkload, field: at(`spec\.selector`), of: comes, reason: selects, remedy: "nothing to do"},
	{role: roleWorkload, field: at(`spec\.selector( \(finds\))?`), reason: "Kubernetes sets the selector of a Job", remedy: "nothing to do", kind: read.JobKind},
	{field: at(`spec\.(selector|podSelector)`), of: differs, reason: selects,
		remedy: "nothing to do: an AppService that adopts it keeps the selector of the running workload"},
	{role: "ServiceMonitor", field: at(`spec\.selector \(finds\)`), reason: "spec.monitoring finds the Service that the AppService makes", remedy: "nothing to do"},
	{role: "Service", field: at(`spec\.selector \(finds\)`), reason: "each AppService has a Service of its own, for its own pods only",
		remedy: "keep a Service beside them, under a name that none of them has, that selects by a label that the pods of all have (spec.podLabels)", values: true},
	{field: at(`spec\.(selector|podSelector) \(finds\)`), reason: "each AppService has one of its own, for its own pods only",
		remedy: "keep one beside them that selects by a label that the pods of all have (spec.podLabels)", values: true},

	{role: roleWorkload, field: at(`kind`), reason: "an AppService is a Deployment, which replaces its pods and rolls out new versions",
		remedy: "delete the old one when the AppService runs: what has another kind is not adopted", values: true, kind: v1.Kind, was: "Pod ReplicaSet ReplicationController"},
	{role: roleWorkload, field: at(`kind`), reason: "an AppJob runs a Job, or a CronJob on a schedule", remedy: "nothing to do", values: true, kind: read.JobKind},
	{role: roleWorkload, field: at(`spec\.volumeClaimTemplates\[[^]]*\]\.metadata\.labels\..*`),
		reason: "new claims have the labels that select the pods, and spec.commonLabels; existing claims keep theirs", remedy: "nothing to do"},
	{role: roleWorkload, field: at(`spec\.volumeClaimTemplates\[[^]]*\]\..*`), reason: "spec.persistence and spec.claims have no such field; existing claims keep it",
		remedy: "nothing to do", values: true},
	{role: roleWorkload, field: at(`spec\.volumeClaimTemplates\[[^]]*\]`), of: goes, reason: "no container mounts this claim", remedy: "nothing to do"},
	{role: roleWorkload, field: at(`spec\.serviceName`), of: comes, reason: "replicas have names from a headless Service, which is made for them",
		remedy: "nothing to do"},
	{role: roleWorkload, field: at(`spec\.(updateStrategy|ordinals)(\..*)?`),
		reason: "a StatefulSet of an AppService replaces its replicas one after the other, from the last to 0", remedy: "keep the StatefulSet as it is, if it matters", values: true},
	{role: roleWorkload, field: at(`spec\.paused`), reason: "a Deployment that is paused is resumed", remedy: "set spec.paused while it has to wait"},
	{role: roleWorkload, field: at(`spec\.(ttlSecondsAfterFinished|startingDeadlineSeconds|podFailurePolicy.*|successPolicy.*|backoffLimitPerIndex|maxFailedIndexes|managedBy)`), of: goes,
		reason: "an AppJob has no such field; its history says which runs are kept", remedy: "keep the Job as it is, if it matters", values: true, kind: read.JobKind},
	{role: roleWorkload, field: at(`spec\.suspend`), reason: "the operator starts a Job when it has noted the run", remedy: "nothing to do", kind: read.JobKind},
	{role: roleWorkload, field: at(`spec\.(completions|parallelism|podReplacementPolicy|completionMode|backoffLimit)`), reason: "an AppJob runs one pod at a time", remedy: "nothing to do", values: true, kind: read.JobKind},
	{role: roleWorkload, field: at(pods + `restartPolicy`), of: differs, reason: "each try has a pod of its own", remedy: "nothing to do", values: true, kind: read.JobKind},
	{role: roleWorkload, field: at(pods + `(affinity.*|topologySpreadConstraints.*|priorityClassName|hostAliases.*|dnsConfig.*|dnsPolicy|terminationGracePeriodSeconds|hostname|subdomain|activeDeadlineSeconds|runtimeClassName|schedulerName|shareProcessNamespace|enableServiceLinks|hostNetwork|hostPID|hostIPC|nodeName|preemptionPolicy|priority|overhead.*|os.*|setHostnameAsFQDN)`),
		reason: "an AppJob has no such field", remedy: "keep the Job as it is, if it matters", values: true, kind: read.JobKind},
	{role: roleWorkload, field: at(container + `(lifecycle|livenessProbe|readinessProbe|startupProbe|ports|tty|stdin|stdinOnce|volumeDevices|terminationMessagePath|resizePolicy)(\..*|\[.*)?`), of: goes,
		reason: "an AppJob has no such field: nothing probes pods that run to their end", remedy: "keep the Job as it is, if it matters", kind: read.JobKind},

	{role: roleWorkload, field: at(`spec\.template\.metadata\.labels\.app\.kubernetes\.io/(name|instance)`), reason: "pods bear the labels that select them",
		remedy: "nothing to do: an AppService that adopts it keeps these labels", values: true},
	{role: roleWorkload, field: at(`spec\.template\.metadata\.labels\.(helm\.sh/.*|app\.kubernetes\.io/managed-by)`), of: goes,
		reason: "it is Helm's, and would restart pods with each version of the chart", remedy: "nothing to do"},
	{role: roleWorkload, field: at(`spec\.template\.metadata\.labels\.app\.kubernetes\.io/version`), of: goes,
		reason: "it would be wrong with the next image", remedy: "nothing to do, or set it in spec.podLabels"},
	{role: roleWorkload, field: at(`spec\.template\.metadata\.labels\.([^/]*\.)?(kubernetes|k8s)\.io/.*`), of: goes,
		reason: "no field sets labels of this domain", remedy: "take another key"},
	{role: roleWorkload, field: at(`spec\.template\.metadata\.annotations\.kubectl\.kubernetes\.io/default-container`), of: goes,
		reason: "the main container comes first, so that kubectl takes it anyway", remedy: "nothing to do"},
	{role: roleWorkload, field: at(`spec\.template\.metadata\.annotations\.checksum/.*`), of: goes,
		reason: "pods are replaced automatically when a ConfigMap or Secret that they refer to changes (spec.reloadOnChange)", remedy: "nothing to do"},

	{role: roleWorkload, field: at(pods + `containers\[app\]\.name`), of: differs, reason: "every AppService and AppJob calls its main container so",
		remedy: "write -c app where commands name it", values: true},
	{role: roleWorkload, field: at(pods + `containers\[[^]]*\]\.restartPolicy`), of: comes,
		reason: "it becomes a sidecar, which starts before the main container, and before init containers, and stops after it",
		remedy: "move it from spec.sidecars to spec.podTemplate.spec.containers if it has to start after it"},
	{role: roleWorkload, field: at(pods + `containers\[[^]]*\]\.startsAfter`), reason: "sidecars start before the init containers",
		remedy: "check that none needs what an init container does"},
	{role: roleWorkload, field: at(container + `lifecycle(\.preStop)?`), of: comes,
		reason: "pods with ports pause 5 s before they stop, so that rolling updates drop no request",
		remedy: "nothing to do, or set spec.lifecycle.preStop to something else"},
	{role: roleWorkload, field: at(container + `readinessProbe`), of: comes, reason: "pods get traffic once the first TCP port can be connected to",
		remedy: "set spec.probes.readiness.none to true to have none"},
	{role: roleWorkload, field: at(container + `env\[PORT\]`), of: comes, reason: "PORT is the first target port",
		remedy: "nothing to do, or set PORT in spec.envs"},
	{role: roleWorkload, field: at(container + `env \(order\)`), reason: "their order matters only if one refers to another with $(NAME)",
		remedy: "nothing to do otherwise"},
	{role: roleWorkload, field: at(pods + `hostAliases\[.* \(order\)\]`), of: differs,
		reason: "what is applied has one line for each address, with all its names",
		remedy: "leave this name to the address that has to be found first", values: true},
	{role: roleWorkload, field: at(container + `envFrom \(order\)`), reason: "what spec.config makes comes first",
		remedy: "check whether two of them have a variable of the same name: the last counts", values: true},
	{role: roleWorkload, field: at(pods + `initContainers \(order\)`), reason: "sidecars come first", remedy: "nothing to do"},
	{role: roleWorkload, field: at(container + `imagePullPolicy`), of: differs, reason: "it is not the name of an image, for which the API server takes IfNotPresent",
		remedy: "write the image", values: true},
	{role: roleWorkload, field: at(container + `terminationMessagePolicy`), reason: "the last lines of a container that crashed become its message",
		remedy: "nothing to do"},
	{role: roleWorkload, field: at(container + `securityContext\.allowPrivilegeEscalation`), of: comes,
		reason: "a process may not gain more rights than its parent",
		remedy: "set spec.security.container.allowPrivilegeEscalation to true if it has to, for a sidecar its securityContext"},
	{role: roleWorkload, field: at(pods + `securityContext\.seccompProfile.*`), of: comes,
		reason: "the container runtime's default seccomp profile holds", remedy: "nothing to do, or set spec.security.pod.seccompProfile"},
	{role: roleWorkload, field: at(pods + `topologySpreadConstraints`), of: comes, reason: "pods are spread over zones and nodes as far as possible",
		remedy: "nothing to do, or set spec.topologySpreadConstraints"},
	{role: roleWorkload, field: at(pods + `(affinity|topologySpreadConstraints).*\.labelSelector`), of: differs,
		reason: "it selects by labels that pods of a new AppService do not have",
		remedy: "select by app.kubernetes.io/instance instead, unless the AppService adopts the running objects, which keep these labels", values: true},
	{role: roleWorkload, field: at(pods + `automountServiceAccountToken`), of: differs, reason: "pods of the default account get no token for the Kubernetes API",
		remedy: "set spec.serviceAccount.automountToken to true if the program talks to it", values: true},
	{role: roleWorkload, field: at(container + `ports\[[^]]*\]\.name`),
		reason: "a port has the name of the entry of the Service that leads to it, or none if another port has its name",
		remedy: "write the new name where something else, such as a PodMonitor, names the port", values: true},
	{role: roleWorkload, field: at(container + `ports\[[^]]*\]`), of: comes, reason: "the Service leads to it, and the container did not list it",
		remedy: "nothing to do"},
	{role: roleWorkload, field: at(container + `ports\[\S+ [^]]*\]`), of: goes,
		reason: "another port of the container has its number, and what is applied lists each number once: the name is lost",
		remedy: "write the number, or the name that stays, where something names the port"},
	{role: roleWorkload, field: at(container + `ports\[[^]]*\]`), of: goes,
		reason: "spec.podTemplate finds ports by their number, and another one has it", remedy: "nothing to do: a port that is not listed is reached just as well"},
	{role: roleWorkload, field: at(pods + `volumes\[[^]]*\]`), of: comes, reason: "what mounts it is left out", remedy: "drop it from spec.volumes"},
	{role: roleWorkload, field: at(pods + `(containers\[[^]]*\]\.volumeMounts\[/var/run/secrets/kubernetes.io/serviceaccount\]|volumes\[kube-api-access-[^]]*\])`), of: goes,
		reason: "the API server adds the token of the account automatically", remedy: "nothing to do"},

	{role: "Service", field: at(`spec\.ports\[[^]]*\]\.name`), of: comes, reason: "spec.services and spec.service.ports say ports by their names",
		remedy: "nothing to do", values: true},
	{role: "Service", field: at(`spec\.ports\[[^]]*\]\.name`),
		reason: "the ports of all Services, and of the container, are those of spec.ports, whose names have at most 15 characters, small letters, digits and -, and a letter",
		remedy: "write the new name where something else, such as a ServiceMonitor, names the port", values: true},
	{role: "Service", field: at(`spec\.ports\[[^]]*\]\.targetPort`), reason: "no container has a port of this name, so that it led nowhere",
		remedy: "check the port", values: true},
	{role: "Service", field: at(`spec\.ports\[[^]]*\]\.nodePort`), of: goes, reason: "an API server refuses it for a Service of type ClusterIP",
		remedy: "set the type to NodePort if it is wanted"},
	{role: roleReplicas, field: at(`spec\.ports\[[^]]*\]`), reason: "the Service that names replicas has all ports of the other one, and no more",
		remedy: "nothing to do: each replica is reached at all of its ports"},
	{role: roleReplicas, field: at(`spec\.publishNotReadyAddresses`), of: comes, reason: "replicas find each other by the Service that names them before they are ready",
		remedy: "use another Service for what calls the application"},
	{role: "Service", field: at(`spec\.ports\[[^]]*\]\.appProtocol`),
		reason: "the ports of further Services are those of spec.ports, with their protocols", remedy: "check whether what calls it reads the protocol there", values: true},
	{role: "Service", field: at(`spec\.(externalIPs|externalName|internalTrafficPolicy|loadBalancerIP|allocateLoadBalancerNodePorts|sessionAffinityConfig)(\..*|\[.*)?`),
		reason: "spec.service has no such field", remedy: "set it by hand after the Service is there: the operator leaves what others add", values: true},
	{role: "Service", field: at(`spec\.clusterIP`), of: comes, reason: "a Service that names replicas has no address",
		remedy: "keep this one under another name, if it matters", values: true},
	{role: "Ingress", field: at(`spec\.defaultBackend.*`), of: goes, reason: "spec.ingress.defaultBackend leads to a port of these pods",
		remedy: "keep an Ingress with it beside the AppService"},
	{role: "Ingress", field: at(`spec\.rules\[.*`), of: goes, reason: "spec.ingress takes rules with paths that lead to these pods",
		remedy: "keep an Ingress with it beside the AppService"},
	{role: "Ingress", field: at(`spec\.tls\[.*`), of: goes, reason: "spec.ingress takes TLS for its hosts", remedy: "keep an Ingress with it beside the AppService"},
	{role: "NetworkPolicy", field: at(`spec\.(ingress|egress)\[.*\.podSelector`), of: differs, reason: "it selects by labels that pods of a new AppService do not have",
		remedy: "select by app.kubernetes.io/instance instead, unless the AppServices adopt the running objects, which keep these labels", values: true},
	{role: "PodDisruptionBudget", field: at(`spec\.unhealthyPodEvictionPolicy`),
		reason: "pods that are not ready may always be evicted, so that a broken one holds up no node", remedy: "nothing to do", values: true},
	{role: "ServiceMonitor", field: at(`spec\..*`), reason: "spec.monitoring says port, path and interval",
		remedy: "keep this ServiceMonitor beside the AppService instead, without spec.monitoring, if it matters"},
	{role: "ServiceAccount", field: at(`(imagePullSecrets|secrets).*`), reason: "no field sets them for the account",
		remedy: "set spec.imagePullSecrets"},
	{role: "PersistentVolumeClaim", field: at(`spec\.(volumeMode|dataSource.*|selector.*|volumeAttributesClassName)`),
		reason: "spec.persistence has no such field; an existing claim keeps it", remedy: "nothing to do", values: true},
}
