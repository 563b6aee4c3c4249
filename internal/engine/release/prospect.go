package release

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Prospect is an object of another owner that has the name of a rendered one.
type Prospect struct {
	Key kube.Key
	// Owner describes the owner, for example "unowned".
	Owner string
	// Against are the objections to taking it over, whatever the resource allows.
	Against []string
	// Ends says, field by field, why its pods would restart or end: that has to be allowed.
	Ends []string

	change plan.Change
	after  *unstructured.Unstructured // nil if the API server refused, or if it was not asked
}

// Survey is the result of examining an adoption, before anything is written.
type Survey struct {
	// Found are objects of other owners that have the names of rendered ones.
	Found []*Prospect
	// Own are objects with rendered names that belong to the resource already.
	Own []kube.Key
	// Missing are rendered objects that do not exist: they would be created.
	Missing []*unstructured.Unstructured
	// Unrendered are the objects of the Helm release that are not rendered, and would stay as they are.
	Unrendered []string
	// Against are the objections to the adoption as a whole.
	Against []string

	adoption *Adoption
}
