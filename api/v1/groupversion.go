package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind of the resource.
const Kind = "AppService"

// Category is that of all kinds of the operator: kubectl get appservice-kinds lists their resources.
const Category = "appservice-kinds"

// GroupVersion is the API group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "app.example.com", Version: "v1"}

// AddToScheme registers the types of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &AppService{}, &AppServiceList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
