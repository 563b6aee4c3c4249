// Package foreign has types as other projects may have them.
package foreign

// Grade is a string with a default.
//
// +kubebuilder:default=theirs
type Grade string

// Item of a list.
type Item struct {
	// Name is the key of some lists.
	// +kubebuilder:default=none
	// +optional
	Name string `json:"name,omitempty"`

	// Zone is the key of others, without a default.
	// +optional
	Zone string `json:"zone,omitempty"`
}

// Lists has lists of all sorts.
type Lists struct {
	// Defaulted has a key with a default.
	// +listType=map
	// +listMapKey=name
	// +optional
	Defaulted []Item `json:"defaulted,omitempty"`

	// Keyless has a key that is neither required nor defaulted.
	// +listType=map
	// +listMapKey=zone
	// +optional
	Keyless []Item `json:"keyless,omitempty"`

	// Plain is not a list of type map.
	// +optional
	Plain map[string]Item `json:"plain,omitempty"`
}

// Embedded is embedded.
type Embedded struct {
	// Needed is required.
	Needed string `json:"needed"`

	// Level has a default.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +optional
	Level int32 `json:"level,omitempty"`
}
