package policy

import "k8s.io/apimachinery/pkg/api/resource"

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
// What it does not say stays as the built-in default has it.
type File struct {
	// Default is for all namespaces.
	Default Settings `yaml:"default"`
	// Namespaces are laid over the default, in order: for each rule, the last entry counts that is for the namespace and sets it.
	Namespaces []Entry `yaml:"namespaces"`
}

// Entry has rules for some namespaces: those that have one of the names and that the selector matches, as far as there is one.
type Entry struct {
	// Names of namespaces.
	Names Patterns `yaml:"names"`
	// Selector by their labels.
	Selector *Selector `yaml:"selector"`
	Settings `yaml:",inline"`
}

// Settings are rules as a file sets them; what is left out is not set. The rules are lists of what is allowed. In all lists, "+" as the
// first entry stands for what the list is laid over, and in lists of patterns the last one that matches counts, of which those that begin
// with "!" refuse.
type Settings struct {
	// Annotations are keys of annotations by the kind of the rendered object, Pod for pod templates; those of "*" are allowed on all
	// kinds. Each kind is a rule of its own. Issuers are a rule of their own, too.
	Annotations map[string]Patterns `yaml:"annotations"`

	// Hosts of Ingresses and routes. Those that an entry of a namespace names are granted to it: no other may use them.
	Hosts Hosts `yaml:"hosts"`
	// SharedHosts are hosts of which several namespaces may serve paths, if each of them may use the host and has it here.
	SharedHosts Hosts `yaml:"sharedHosts"`
	// WildcardHosts says whether routes may be for wildcards as *.example.com, or for all hosts of an Ingress controller or a listener.
	WildcardHosts *bool `yaml:"wildcardHosts"`
	// IngressClasses by name; "" is for an Ingress that names none.
	IngressClasses Patterns `yaml:"ingressClasses"`
	// Gateways as NAMESPACE/NAME, of routes of the Gateway API.
	Gateways Patterns `yaml:"gateways"`
	// Issuers of cert-manager as KIND/NAME, as in ClusterIssuer/letsencrypt.
	Issuers Patterns `yaml:"issuers"`

	// ServiceTypes are ClusterIP, which headless Services have, too, NodePort, LoadBalancer and ExternalName.
	ServiceTypes ServiceTypes `yaml:"serviceTypes"`
	// NodePorts are ports, or ranges such as 30000-30099, that a Service may ask for by number. Without a number, it is given one.
	NodePorts Ports `yaml:"nodePorts"`
	// ExternalIPs are addresses, or networks such as 192.0.2.0/24, that a Service may ask for, as external IP or of a load balancer.
	ExternalIPs Networks `yaml:"externalIPs"`
	// LoadBalancerClasses of Services; without one, the cluster's own serves them.
	LoadBalancerClasses Patterns `yaml:"loadBalancerClasses"`

	// VolumeTypes by the names of the fields of a volume, as in configMap. csi is without a Secret to publish it,
	// csi.nodePublishSecretRef with one.
	VolumeTypes VolumeTypes `yaml:"volumeTypes"`
	// PriorityClasses of pods; without one, they have the cluster's default.
	PriorityClasses Patterns `yaml:"priorityClasses"`
	// Tolerations of pods, by the key of the taint; "" is for those without a key, which tolerate every taint.
	Tolerations Patterns `yaml:"tolerations"`
	// NodeNames says whether pods may choose nodes by their names.
	NodeNames *bool `yaml:"nodeNames"`
	// Registries of images, or parts of them as ghcr.io/example with all below. A label of the host may be *; * alone is any.
	Registries Registries `yaml:"registries"`
	// RequireDigests says whether images must be named with their digest.
	RequireDigests *bool `yaml:"requireDigests"`
	// PodTemplate says whether spec.podTemplate may be used.
	PodTemplate *bool `yaml:"podTemplate"`

	// MaxReplicas of a workload, by its own number or by its autoscaler; of a Job, pods at a time.
	MaxReplicas *int64 `yaml:"maxReplicas"`
	// MaxStorage of a claim, of the template of one, or of an emptyDir, as in 1Ti.
	MaxStorage *Quantity `yaml:"maxStorage"`
	// BlockingBudgets says whether a PodDisruptionBudget may let no pod go at all, so that nodes cannot be drained.
	BlockingBudgets *bool `yaml:"blockingBudgets"`
}

// Selector is a label selector.
type Selector struct {
	MatchLabels      map[string]string `yaml:"matchLabels"`
	MatchExpressions []Requirement     `yaml:"matchExpressions"`
}

// Requirement is one expression of a selector.
type Requirement struct {
	Key      string   `yaml:"key"`
	Operator string   `yaml:"operator"`
	Values   []string `yaml:"values"`
}

// Quantity is one as in 10Gi.
type Quantity struct{ resource.Quantity }

// UnmarshalText implements encoding.TextUnmarshaler.
func (q *Quantity) UnmarshalText(text []byte) (err error) {
	q.Quantity, err = resource.ParseQuantity(string(text))
	return err
}
