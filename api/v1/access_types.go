package v1

// Access lists, by name, who may reach the pods and whom the pods may reach. It becomes a NetworkPolicy, which the
// network of the cluster has to enforce. The pods of one AppService always reach each other.
//
// +kubebuilder:validation:XValidation:rule="has(self.from) || has(self.to)",message="spec.access needs from, to or both"
type Access struct {
	// From lists who may reach the ports. If left out, everyone may; if empty, only the service's own pods. Ingress
	// controllers, gateways and Prometheus are listed by the namespace that they run in. Peers in networkPolicy.from are
	// admitted as well.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	From *[]AccessPeer `json:"from,omitempty"`

	// To lists whom the pods may reach, besides DNS. If left out, they may reach everything; if empty, only each other.
	// Peers in networkPolicy.egress may be reached as well.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	To *[]AccessPeer `json:"to,omitempty"`
}

// AccessPeer names the pods of an AppService, or all pods of a namespace.
//
// +kubebuilder:validation:XValidation:rule="has(self.appService) || has(self.namespace)",message="spec.access.from[] and spec.access.to[] need appService, namespace or both"
type AccessPeer struct {
	// AppService whose pods are meant. Left out, all pods of the namespace are.
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	AppService string `json:"appService,omitempty"`

	// Namespace that the pods are in. Defaults to that of this AppService.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}
