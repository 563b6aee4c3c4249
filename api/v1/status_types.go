package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AppServiceStatus is what the operator observed, as of observedGeneration.
type AppServiceStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks of.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Observed generation",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase is the state in one word, for people. Programs read the conditions.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Phase",order=1,xDescriptors={"urn:alm:descriptor:io.kubernetes.phase"}
	Phase Phase `json:"phase,omitempty"`

	// Readiness is the number of ready replicas and the number wanted, for example 2/2.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Ready replicas of those wanted",order=4,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Readiness string `json:"readiness,omitempty"`

	// Replicas is the number of pods that exist.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Replicas"
	Replicas int32 `json:"replicas"`

	// UpdatedReplicas is the number of pods that run the present version.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Updated replicas"
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`

	// ReadyReplicas is the number of ready pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Ready replicas"
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// AvailableReplicas is the number of pods that have been ready for long enough to count.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Available replicas"
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`

	// UnavailableReplicas is the number of pods that are still missing.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Unavailable replicas"
	UnavailableReplicas int32 `json:"unavailableReplicas,omitempty"`

	// Selector selects the pods, in the form of the scale subresource.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Selector",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	Selector string `json:"selector,omitempty"`

	// Image is the image that the Deployment runs.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Image",order=5,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Image string `json:"image,omitempty"`

	// URL is the best address of the service: external, else in the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="URL",order=3,xDescriptors={"urn:alm:descriptor:org.w3:link"}
	URL string `json:"url,omitempty"`

	// Endpoints are all addresses of the service.
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Endpoints",order=7
	Endpoints []Endpoint `json:"endpoints,omitempty"`

	// Resources are the objects that the AppService became, in the order in which they are applied.
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Resources",order=8
	Resources []ResourceStatus `json:"resources,omitempty"`

	// Release is the Helm release that the objects belong to.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Helm release"
	Release *ReleaseStatus `json:"release,omitempty"`

	// Defaults are the fields that the spec leaves out and that the platform or the namespace filled in, the namespace
	// first.
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Defaults",order=9
	Defaults []DefaultsStatus `json:"defaults,omitempty"`

	// Policy is the built-in policy that the platform's is laid over, if that is not shared: open.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Policy",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Policy string `json:"policy,omitempty"`

	// Problems are all that is wrong or worth knowing, errors first.
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Problems",order=6
	Problems []Problem `json:"problems,omitempty"`

	// NextAttemptTime is the latest time of the next attempt, if something failed for a reason whose end cannot be
	// watched, such as an object that the API server refuses. It is left out if nothing failed, and if a retry does not
	// help or depends on something else.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Next attempt",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	NextAttemptTime *metav1.Time `json:"nextAttemptTime,omitempty"`

	// ExpirationTime is when the operator deletes the AppService, at the end of its spec.ttl. It is left out without a
	// ttl.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Expires",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`

	// Hosts are the hosts that it serves, and since when. Between namespaces, a host belongs to the one that has served it
	// longest, unless the platform's policy grants it. The operator writes this and repairs what others write.
	// +listType=map
	// +listMapKey=host
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Hosts",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	Hosts []HostStatus `json:"hosts,omitempty"`

	// Runs are the Jobs that run once for each change, one for each that the chart renders. A Job that is noted here
	// with a UID is never created again.
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Runs"
	Runs []RunStatus `json:"runs,omitempty"`

	// NeverReady is no longer written. It is here because fields of an API stay: an earlier operator may have stored it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Never ready",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	NeverReady bool `json:"neverReady,omitempty"`

	// Conditions are Ready (the summary), Available, Progressing, Deployed, Reconciling and Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",order=2,xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"}
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ResourceStatus is one object that the AppService became.
type ResourceStatus struct {
	// Kind of the object.
	Kind string `json:"kind"`

	// Name of the object.
	Name string `json:"name"`

	// Ready reports whether the object is ready.
	Ready bool `json:"ready"`

	// State is Ready, Waiting if it may become ready without help, or Failed if not.
	// +optional
	State ResourceState `json:"state,omitempty"`

	// Message explains why it is not ready, or is a remark.
	// +optional
	Message string `json:"message,omitempty"`
}

// ResourceState is how a rendered object stands.
type ResourceState string

// The states of rendered objects.
const (
	ResourceReady   ResourceState = "Ready"
	ResourceWaiting ResourceState = "Waiting"
	ResourceFailed  ResourceState = "Failed"
)

// Endpoint is one address of the service.
type Endpoint struct {
	// Name of the port.
	// +optional
	Name string `json:"name,omitempty"`

	// Scope is from where the address is reachable.
	Scope EndpointScope `json:"scope"`

	// URL of the endpoint.
	URL string `json:"url"`
}

// EndpointScope is from where an endpoint is reachable.
//
// +kubebuilder:validation:Enum=Cluster;Node;External
type EndpointScope string

// The scopes of endpoints.
const (
	ScopeCluster  EndpointScope = "Cluster"
	ScopeNode     EndpointScope = "Node"
	ScopeExternal EndpointScope = "External"
)

// RunStatus is the run of a Job that runs once for each change of what it runs.
type RunStatus struct {
	// Job is its name.
	Job string `json:"job"`

	// Digest of what it runs, 32 hexadecimal characters. For a Job of the stage before, the first 24 stand for what it
	// runs, and the rest for the request to run that again after it failed.
	Digest string `json:"digest"`

	// UID of the Job. It is left out while the Job of an earlier run that has its name is still there.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// Result is Complete or Failed once the Job has ended, Unknown if it was gone before the operator saw it end, and
	// Skipped if it was not to run. It is left out until then.
	// +optional
	Result RunResult `json:"result,omitempty"`
}

// RunResult is how a run ended.
//
// +kubebuilder:validation:Enum=Complete;Failed;Unknown;Skipped
type RunResult string

// The results of runs.
const (
	RunComplete RunResult = "Complete"
	RunFailed   RunResult = "Failed"
	RunUnknown  RunResult = "Unknown"
	RunSkipped  RunResult = "Skipped"
)

// ReleaseStatus is the newest Helm release of the AppService.
type ReleaseStatus struct {
	// Revision of the release, 1 and up.
	Revision int `json:"revision"`

	// ChartVersion is the version of the chart that rendered it.
	// +optional
	ChartVersion string `json:"chartVersion,omitempty"`

	// ChartDigest is the beginning of the digest of that chart, 12 hexadecimal characters. Two charts of one version may
	// differ.
	// +optional
	ChartDigest string `json:"chartDigest,omitempty"`

	// Digest of the rendered objects, 32 hexadecimal characters.
	// +optional
	Digest string `json:"digest,omitempty"`

	// WasReady says that the release was Ready with replicas before, while it is not.
	// +optional
	WasReady bool `json:"wasReady,omitempty"`
}

// DefaultsStatus lists the values that one source of defaults filled in.
type DefaultsStatus struct {
	// Source is ConfigMap appservice-defaults, which is the namespace's, or defaultValues of watches.yaml, which is the
	// platform's.
	Source string `json:"source"`

	// Fields of the spec, as in resources.requests.
	// +listType=atomic
	Fields []string `json:"fields"`
}

// Problem is something that is wrong or worth knowing.
type Problem struct {
	// Type is the severity: an Error keeps the AppService from its desired state, a Warning does not.
	Type ProblemType `json:"type"`

	// Source is the kind or field concerned, for example HTTPRoute or spec.size.
	// +optional
	Source string `json:"source,omitempty"`

	// Reason in one word.
	Reason string `json:"reason"`

	// Message is one line, cause first.
	Message string `json:"message"`

	// Hint is a remedy.
	// +optional
	Hint string `json:"hint,omitempty"`
}

// ProblemType is the severity of a problem.
//
// +kubebuilder:validation:Enum=Error;Warning;Deprecation
type ProblemType string

// The types of problems.
const (
	ProblemError       ProblemType = "Error"
	ProblemWarning     ProblemType = "Warning"
	ProblemDeprecation ProblemType = "Deprecation"
)

// Phase is the state of an AppService in one word.
type Phase string

// The phases of an AppService.
const (
	PhasePending  Phase = "Pending"
	PhaseUpdating Phase = "Updating"
	PhaseRunning  Phase = "Running"
	PhaseDegraded Phase = "Degraded"
	PhaseFailed   Phase = "Failed"
	PhasePaused   Phase = "Paused"
)

// HostStatus is a host that a resource serves.
type HostStatus struct {
	// Host is a name, or a wildcard such as *.example.com.
	Host string `json:"host"`

	// Since is when it began to serve the host.
	Since metav1.Time `json:"since"`
}
