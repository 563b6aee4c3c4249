package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Lack is a required object of a kind that the cluster does not serve.
type Lack struct {
	kube.Key
	// By is the field that requires it, for example spec.autoscaling.triggers.
	By string
}

// UnservedError reports that the cluster does not serve a required kind.
type UnservedError struct{ Lack }

func (e *UnservedError) Error() string {
	return fmt.Sprintf("the cluster does not serve %s in group %s, which %s needs", e.Kind,
		e.Group, e.By)
}

// Reason returns the reason of Ready.
func (e *UnservedError) Reason() string { return v1.ReasonAPIUnavailable }

// Hint returns what to do.
func (e *UnservedError) Hint() string {
	return "ask the platform team to install that API; the operator continues once it is there"
}

// Served returns an UnservedError if the cluster does not serve the kind of a required object, and a TooOldError if it
// does not have a field of an object.
func (o *Outline) Served() error {
	switch {
	case len(o.Lacking) > 0:
		return &UnservedError{o.Lacking[0]}
	case o.TooOld != nil:
		return o.TooOld
	}
	return nil
}

// leaveOut records an object whose kind the cluster does not serve.
func (o *Outline) leaveOut(object *unstructured.Unstructured) {
	key := kube.KeyOf(object)
	if by := object.GetAnnotations()[v1.AnnotationRequiredBy]; by != "" {
		o.Lacking = append(o.Lacking, Lack{key, by})
		return
	}
	o.Unserved = append(o.Unserved, key)
}

// Groups lists the API groups of the objects, including those left out.
func (o *Outline) Groups() []string {
	var list []string
	for _, key := range o.Keys {
		list = append(list, key.Group)
	}
	for _, key := range o.Unserved {
		list = append(list, key.Group)
	}
	for _, lack := range o.Lacking {
		list = append(list, lack.Group)
	}
	return list
}
