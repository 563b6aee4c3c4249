package importer

import (
	"regexp"

	"github.com/example/appservice-operator/internal/controller/release"
)

// change is the side of the comparison on which a field is.
type change int

const (
	anyChange change = iota
	comes
	goes
	differs
)

const none = "(none)" // as release.Differences prints it

func changeOf(d release.Difference) change {
	switch {
	case d.Old == none:
		return comes
	case d.New == none:
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
}

func at(pattern string) *regexp.Regexp { return regexp.MustCompile("^" + pattern + "$") }

const (
	pods      = `spec\.template\.spec\.`
	container = `spec\.template\.spec\.(containers|initContainers)\[[^]]*\]\.`
)

// rules are tried in order; the first that matches counts.
var rules = []rule{
	{roleTask, at(`spec\.activeDeadlineSeconds`), comes, "a release task is ended after an hour", "set spec.release.timeoutSeconds if it takes longer", false},
	{roleTask, at(`.*\.terminationMessagePolicy`), anyChange, "the last lines of a task that failed become its message", "nothing to do", false},
	{roleTask, at(`spec\.ttlSecondsAfterFinished`), goes, "the operator deletes the Job when the next one runs", "nothing to do", false},
	{roleTask, at(`.*\.restartPolicy`), differs, "each try has a pod of its own", "nothing to do", false},
	{roleTask, at(`.*`), comes, "a release task has it from the application, or by the chart", "nothing to do, or change it for the application", false},
	{roleTask, at(`.*`), goes, "a release task has the environment, the account, the volumes and the place of the application, and nothing else",
		"set it for the application, if it may have it", false},
	{roleTask, at(`.*`), differs, "a release task has that of the application", "change it for the application, if it may have the same", true},
	{"Service", at(`metadata\.name`), anyChange, "what an AppService becomes has its name, by which others call it",
		"keep a Service of the old name beside it as long as somebody uses that", true},
	{"", at(`metadata\.name`), anyChange, "what an AppService becomes has its name", "", true},
	{"", at(`metadata\.annotations(\..*)?`), goes, "no field sets annotations of this object",
		"set it by hand: the operator leaves what others add", false},

	{roleWorkload, at(`spec\.volumeClaimTemplates.*`), anyChange,
		"spec.claims has no such field", "nothing to do if the AppService adopts it: claims that are there keep it", true},
	{roleWorkload, at(`spec\.serviceName`), anyChange,
		"the Service that names the replicas is NAME-headless: their host names change",
		"write the new names where replicas find each other", true},
	{roleWorkload, at(`spec\.(podManagementPolicy|updateStrategy|persistentVolumeClaimRetentionPolicy|strategy|progressDeadlineSeconds|ordinals)(\..*)?`), anyChange,
		"an AppService replaces replicas as spec.strategy or spec.persistence say",
		"set these fields as you need them", false},
	{roleWorkload, at(`spec\.paused`), anyChange, "a Deployment that is paused is resumed",
		"set spec.paused while it has to wait", false},

	{roleWorkload, at(`spec\.template\.metadata\.labels\.app\.kubernetes\.io/(name|instance)`), anyChange,
		"pods bear the labels that select them",
		"nothing to do: an AppService that adopts it keeps these labels", true},
	{roleWorkload, at(`spec\.template\.metadata\.labels\.(helm\.sh/.*|app\.kubernetes\.io/managed-by)`), anyChange,
		"it is Helm's, and would restart pods with each version of the chart", "nothing to do", false},
	{roleWorkload, at(`spec\.template\.metadata\.labels\.app\.kubernetes\.io/version`), goes,
		"it would be wrong with the next image", "nothing to do, or set it in spec.podLabels", false},
	{roleWorkload, at(`spec\.template\.metadata\.labels\..*`), anyChange, "no field sets labels of this domain",
		"take another key", false},
	{roleWorkload, at(`spec\.template\.metadata\.annotations\.kubectl\.kubernetes\.io/default-container`), goes,
		"the main container comes first, so that kubectl takes it anyway", "nothing to do", false},
	{roleWorkload, at(`spec\.template\.metadata\.annotations\.checksum/.*`), goes,
		"pods roll by themselves when a ConfigMap or Secret that they refer to changes (spec.reloadOnChange)",
		"nothing to do", false},
	{roleWorkload, at(`spec\.template\.metadata\.(annotations|creationTimestamp).*`), anyChange,
		"it was for one rollout only", "nothing to do", false},

	{roleWorkload, at(container + `lifecycle(\.preStop)?`), comes,
		"pods with ports pause 5 s before they stop, so that rolling updates drop no request",
		"nothing to do, or set spec.lifecycle.preStop to something else", false},
	{roleWorkload, at(container + `readinessProbe`), comes, "pods get traffic once the first TCP port can be connected to",
		"set spec.probes.readiness.none to true to have none", false},
	{roleWorkload, at(container + `env(\[PORT\])?`), comes, "PORT is the first target port",
		"nothing to do, or set PORT in spec.envs", false},
	{roleWorkload, at(container + `env \(order\)`), anyChange,
		"their order matters only if one refers to another with $(NAME)", "nothing to do otherwise", false},
	{roleWorkload, at(container + `(envFrom|volumeMounts)( \(order\))?`), anyChange,
		"what spec.config and spec.persistence make comes first", "nothing to do", false},
	{roleWorkload, at(container + `terminationMessagePolicy`), anyChange,
		"the last lines of a container that crashed become its message", "nothing to do", false},
	{roleWorkload, at(container + `securityContext(\.allowPrivilegeEscalation)?`), comes,
		"a process may not gain more rights than its parent",
		"set spec.security.container.allowPrivilegeEscalation to true if it has to, for a sidecar its securityContext", false},
	{roleWorkload, at(pods + `securityContext(\.seccompProfile.*)?`), comes,
		"the container runtime's default seccomp profile holds",
		"nothing to do, or set spec.security.pod.seccompProfile", false},
	{roleWorkload, at(pods + `topologySpreadConstraints`), comes,
		"pods are spread over zones and nodes as far as possible",
		"nothing to do, or set spec.topologySpreadConstraints", false},
	{roleWorkload, at(pods + `automountServiceAccountToken`), differs,
		"pods of the default account get no token for the Kubernetes API",
		"set spec.serviceAccount.automountToken to true if the program talks to it", true},
	{roleWorkload, at(container + `ports\[[0-9]+\]\.name`), anyChange,
		"a port has the name of the entry of the Service that leads to it",
		"write the new name where something else, such as a PodMonitor, names the port", true},
	{roleWorkload, at(container + `ports\[[0-9]+\]`), comes, "the Service leads to it, and the container did not list it",
		"nothing to do", false},
	{roleWorkload, at(container + `ports`), comes, "the Service leads to them, and the container did not list them",
		"nothing to do", false},
	{roleWorkload, at(container + `ports \(order\)`), anyChange, "those of the Service come first",
		"nothing to do", false},
	{roleWorkload, at(pods + `(volumes|containers|initContainers)( \(order\))?`), anyChange,
		"what the fields of a spec make comes first", "nothing to do", false},

	{"Service", at(`spec\.ports( \(order\)|\[[0-9]+\]\.targetPort)`), anyChange,
		"a port of a Service leads to a port of a container that has a number", "", true},
	{"Service", at(`spec\.(externalIPs|externalName|internalTrafficPolicy|loadBalancerIP|trafficDistribution|allocateLoadBalancerNodePorts|sessionAffinityConfig)(\..*|\[.*)?`), anyChange,
		"spec.service has no such field",
		"set it by hand after the Service is there: the operator leaves what others add", true},
	{"Service", at(`spec\.ports\[[0-9]+\]\.(name|appProtocol)`), anyChange,
		"the ports of further Services are those of spec.ports, with their names and protocols",
		"write the new name where something names the port", true},
	{"Ingress", at(`spec\.defaultBackend.*`), anyChange, "spec.ingress.defaultBackend leads to a port of these pods",
		"keep an Ingress with it beside the AppService", false},
	{"Ingress", at(`spec\.(rules|tls).*`), anyChange,
		"spec.ingress takes rules with paths that lead to these pods, and TLS for hosts; the same host is one rule",
		"keep an Ingress with the others beside the AppService", false},
	{"PodDisruptionBudget", at(`spec\.unhealthyPodEvictionPolicy`), anyChange,
		"pods that are not ready may always be evicted, so that a broken one holds up no node", "nothing to do", true},
	{"ServiceMonitor", at(`spec\..*`), anyChange, "spec.monitoring says port, path and interval",
		"keep this ServiceMonitor beside the AppService instead, without spec.monitoring, if it matters", false},
	{"ServiceAccount", at(`automountServiceAccountToken`), anyChange, "the account says what its pods do",
		"nothing to do", true},
	{"ServiceAccount", at(`(imagePullSecrets|secrets).*`), anyChange, "no field sets them for the account",
		"set spec.imagePullSecrets", false},
	{"PersistentVolumeClaim", at(`spec\.(volumeMode|dataSource.*|selector.*|volumeAttributesClassName)`), anyChange,
		"spec.persistence has no such field; a claim that is there keeps it", "nothing to do", true},
	{"HorizontalPodAutoscaler", at(`spec\.(behavior.*|metrics.*)`), anyChange, "spec.autoscaling says it otherwise",
		"check spec.autoscaling", false},
}
