package v1

// Trigger is one of KEDA's scalers: what the number of replicas follows.
type Trigger struct {
	// Type of the scaler, for example kafka, prometheus, cron, or cpu. KEDA's documentation lists them.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][-a-z0-9]*$`
	Type string `json:"type"`

	// Name identifies the trigger; it is unique.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][-A-Za-z0-9_.]*$`
	// +optional
	Name string `json:"name,omitempty"`

	// Metadata are the settings of the scaler, as its documentation names them. Passwords belong in the
	// TriggerAuthentication that authenticationRef names.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Metadata map[string]TriggerSetting `json:"metadata,omitempty"`

	// MetricType is the value compared with the target: the average over all replicas, the value itself, or a share of
	// what pods request. Defaults to AverageValue.
	// +kubebuilder:validation:Enum=AverageValue;Value;Utilization
	// +optional
	MetricType string `json:"metricType,omitempty"`

	// AuthenticationRef names what the scaler authenticates with.
	// +optional
	AuthenticationRef *TriggerAuthentication `json:"authenticationRef,omitempty"`
}

// TriggerSetting is the value of a setting of a scaler.
//
// +kubebuilder:validation:MaxLength=4096
type TriggerSetting string

// TriggerAuthentication names an object of KEDA that defines how a scaler authenticates.
type TriggerAuthentication struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Kind of the object. Defaults to TriggerAuthentication, which is in the namespace of the AppService.
	// +kubebuilder:validation:Enum=TriggerAuthentication;ClusterTriggerAuthentication
	// +optional
	Kind string `json:"kind,omitempty"`
}
