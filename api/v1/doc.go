// Package v1 is the AppService API, group app.example.com: the types that the custom resource definition is generated
// from, and the names of conditions, reasons, labels and annotations. It holds no logic.
//
// +kubebuilder:object:generate=true
// +groupName=app.example.com
package v1
