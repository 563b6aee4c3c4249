package tree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// Findings are the results of reading a resource once.
type Findings struct {
	Resource *unstructured.Unstructured
	Status   *v1.AppServiceStatus
	// Objects of the resource, as the status lists them.
	Objects []*Object
	// Defaults are the defaults of the namespace; nil if there are none, or if they could not be read.
	Defaults map[string]any
	// Chart are the values of the chart that rendered the resource; nil if it is not available.
	Chart map[string]any
	// Gaps are the objects that could not be read, and the rights that this requires.
	Gaps []string
	// Now is when the resource was read.
	Now time.Time
}

// Object is one object of a resource.
type Object struct {
	// Entry is its entry in the status.
	Entry v1.ResourceStatus
	// Live is nil if it does not exist, or could not be read.
	Live *unstructured.Unstructured
	// PodFindings has the findings about its pods; nil for objects that create none, or whose pods could not be read.
	PodFindings *diagnose.Findings
	Causes      []diagnose.Cause
	// Dependents are objects of any kind that other controllers created for it.
	Dependents []client.Object
}

// Collector reads resources and their objects.
type Collector struct {
	Reader client.Reader
	Mapper meta.RESTMapper
	Now    func() time.Time
}

// gaps returns nodes for the objects that could not be read.
func (f *Findings) gaps() []*Node {
	var list []*Node
	for _, gap := range f.Gaps {
		list = append(list, &Node{Type: TypeGap, Name: "not read", Message: gap})
	}
	return list
}

func hint(text string) *Node {
	if text == "" {
		return nil
	}
	return &Node{Type: TypeHint, Name: "hint", Message: text}
}

// gap records an object that could not be read, once.
func (f *Findings) gap(err error, kind, name string) {
	text := fmt.Sprintf("%s %s: %v", kind, name, err)
	var refused apierrors.APIStatus
	if apierrors.IsForbidden(err) && errors.As(err, &refused) {
		text = fmt.Sprintf("%s %s: you lack the right to read %s in namespace %s (the role \"view\" has it for built-in kinds); its state is as the operator last reported it",
			kind, name, resourceOf(refused), f.Resource.GetNamespace())
	}
	if meta.IsNoMatchError(err) {
		text = fmt.Sprintf("%s %s: the cluster does not serve the kind", kind, name)
	}
	if !slices.Contains(f.Gaps, text) {
		f.Gaps = append(f.Gaps, text)
	}
}

// resourceOf returns the resource of a refused request, for example pods or httproutes.gateway.networking.k8s.io.
func resourceOf(refused apierrors.APIStatus) string {
	details := refused.Status().Details
	if details == nil {
		return "it"
	}
	return strings.TrimSuffix(details.Kind+"."+details.Group, ".")
}
