package policy

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// File is what a policy file says, as in
//
//	default:
//	  maxReplicas: 50
//	namespaces:
//	- names: [team-*]
//	  hosts: ["*.team.example.com"]
//	- selector: {matchLabels: {tier: gold}}
//	  maxReplicas: 200
//
// Settings that it leaves out stay as in the built-in policy.
type File struct {
	// BuiltIn is the built-in policy that the file is laid over: open or shared; shared if it is not set.
	BuiltIn BuiltIn `json:"builtIn"`
	// Default is for all namespaces.
	Default Settings `json:"default"`
	// Namespaces are laid over the default, in order: for each rule, the last entry counts that is for the namespace and
	// sets it.
	Namespaces []Entry `json:"namespaces"`
}

// Entry has rules for some namespaces: those that have one of the names and that the selector matches, as far as there
// is one.
type Entry struct {
	Names    Patterns              `json:"names"`
	Selector *metav1.LabelSelector `json:"selector"`
	Settings `json:",inline"`
}

// Settings are rules as a file sets them; what is left out is not set. The rules are lists of what is allowed. In all
// lists, "+" as the first entry stands for what the list is laid over, and in lists of patterns the last one that
// matches counts; patterns that begin with "!" refuse.
type Settings struct {
	// Annotations are keys of annotations by the kind of the rendered object, Pod for pod templates; those of "*" are
	// allowed on all kinds. Each kind is a rule of its own. Issuers are a rule of their own, too.
	Annotations map[string]Keys `json:"annotations"`
	// Labels are keys of labels, in the same way.
	Labels map[string]Keys `json:"labels"`

	// Hosts of Ingresses and routes. Those that an entry of a namespace names are granted to it: no other may use them.
	Hosts Hosts `json:"hosts"`
	// SharedHosts are hosts whose paths several namespaces may serve, if each of them may use the host and has it here.
	SharedHosts Hosts `json:"sharedHosts"`
	// WildcardHosts reports whether routes may be for wildcards as *.example.com, or for all hosts of an Ingress
	// controller or a listener.
	WildcardHosts *bool `json:"wildcardHosts"`
	// BelowWildcards are hosts that may be used below a wildcard of a route in another namespace that the operator did not
	// make; of those that only * names, a warning says so. It takes nothing away that is served.
	BelowWildcards Hosts `json:"belowWildcards"`
	// Paths of Ingresses: their path types, each with any path, or with those that an expression matches, as in
	// Prefix=[^;]*.
	Paths Keys `json:"paths"`
	// Matches are the fields that routes of the Gateway API match by: path, headers, queryParams or method, each with any
	// texts, or with those that an expression matches.
	Matches Keys `json:"matches"`
	// IngressClasses by name; "" is for an Ingress that names none.
	IngressClasses Patterns `json:"ingressClasses"`
	// Gateways as NAMESPACE/NAME, of routes of the Gateway API.
	Gateways Patterns `json:"gateways"`
	// Issuers of cert-manager as KIND/NAME, as in ClusterIssuer/letsencrypt, or KIND.GROUP/NAME if they are of another
	// group; "" is for the one that the platform chose for kubernetes.io/tls-acme.
	Issuers Patterns `json:"issuers"`

	// ServiceTypes are ClusterIP, which headless Services have, too, NodePort, LoadBalancer and ExternalName.
	ServiceTypes ServiceTypes `json:"serviceTypes"`
	// NodePorts are ports, or ranges such as 30000-30099, that a Service may request by number. Without a number, it is
	// given one.
	NodePorts Ports `json:"nodePorts"`
	// ExternalIPs are addresses, or networks such as 192.0.2.0/24, that a Service may request, as external IP or of a load
	// balancer.
	ExternalIPs Networks `json:"externalIPs"`
	// LoadBalancerClasses of Services; without one, the cluster's own serves them.
	LoadBalancerClasses Patterns `json:"loadBalancerClasses"`

	// VolumeTypes by the names of the fields of a volume, as in configMap. csi is without a Secret to publish it,
	// csi.nodePublishSecretRef with one.
	VolumeTypes VolumeTypes `json:"volumeTypes"`
	// StaticVolumes reports whether claims may choose existing volumes: by a name, a selector or the storage class "".
	StaticVolumes *bool `json:"staticVolumes"`
	// PriorityClasses of pods; without one, they have the cluster's default.
	PriorityClasses Patterns `json:"priorityClasses"`
	// Tolerations of pods, by the key of the taint; "" is for those without a key, which tolerate every taint.
	Tolerations Patterns `json:"tolerations"`
	// NodeNames reports whether pods may name their node, past the scheduler and the taints that it respects.
	NodeNames *bool `json:"nodeNames"`
	// CrossNamespaceAffinity reports whether required affinity may be about pods of other namespaces, which keeps those
	// from being scheduled, too.
	CrossNamespaceAffinity *bool `json:"crossNamespaceAffinity"`
	// RuntimeClasses of pods; without one, they have the cluster's default.
	RuntimeClasses Patterns `json:"runtimeClasses"`
	// Schedulers of pods; without one, it is the cluster's default.
	Schedulers Patterns `json:"schedulers"`
	// HostUsers reports whether pods may ask for the user namespace of their node.
	HostUsers *bool `json:"hostUsers"`
	// MaxTerminationSeconds of pods, their probes and their preStop sleeps.
	MaxTerminationSeconds *int64 `json:"maxTerminationSeconds"`
	// Registries of images, or parts of them as ghcr.io/example with all below. A label of the host may be *; * alone is
	// any.
	Registries Registries `json:"registries"`
	// RequireDigests reports whether images must be named with their digest.
	RequireDigests *bool `json:"requireDigests"`
	// PodTemplate reports whether spec.podTemplate may be used.
	PodTemplate *bool `json:"podTemplate"`

	// MaxReplicas of a workload, by its own number or by its autoscaler; of a Job, pods at a time.
	MaxReplicas *int64 `json:"maxReplicas"`
	// MaxStorage of a claim, of the template of one, or of an emptyDir, as in 1Ti.
	MaxStorage *Quantity `json:"maxStorage"`
	// OpenNetworkPolicies reports whether NetworkPolicies may have rules for everyone, all namespaces or addresses.
	OpenNetworkPolicies *bool `json:"openNetworkPolicies"`
	// BlockingBudgets reports whether a PodDisruptionBudget may let no pod go at all, so that nodes cannot be drained. The
	// least number of pods counts, unless it is one.
	BlockingBudgets *bool `json:"blockingBudgets"`
}

// Quantity is one as in 10Gi.
type Quantity struct{ resource.Quantity }

// UnmarshalText implements encoding.TextUnmarshaler.
func (q *Quantity) UnmarshalText(text []byte) (err error) {
	if q.Quantity, err = resource.ParseQuantity(string(text)); err != nil {
		return errors.New("must be a quantity, such as 10Gi")
	}
	return nil
}
