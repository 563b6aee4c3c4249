package chart

import (
	"fmt"
	"regexp"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// AnnotationForeignKinds of a Chart.yaml says what cannot be known of kinds that are no part of Kubernetes, by kind and group, as in
// "Bucket.example.com: {resource: buckets, option: storage}".
const AnnotationForeignKinds = "app.example.com/foreign-kinds"

// optionName is what can be a folder, and a key of values.
var optionName = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// Foreign is what a chart says of a kind that is no part of Kubernetes.
type Foreign struct {
	// Resource is its name in URLs and in rules of roles: the plural of its CRD.
	Resource string `json:"resource"`
	// ClusterScoped says that its objects live outside of namespaces.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
	// Option is the name by which an installation asks for the rights on it; if it is empty, every installation has them.
	Option string `json:"option,omitempty"`
}

// ForeignKinds returns what a chart says of such kinds.
func ForeignKinds(c *chart.Chart) (map[schema.GroupKind]Foreign, error) {
	if c.Metadata == nil {
		return nil, nil
	}
	var said map[string]Foreign
	if err := yaml.UnmarshalStrict([]byte(c.Metadata.Annotations[AnnotationForeignKinds]), &said); err != nil {
		return nil, fmt.Errorf("annotation %s of Chart.yaml: %w", AnnotationForeignKinds, err)
	}
	kinds := map[schema.GroupKind]Foreign{}
	for name, foreign := range said {
		kind := schema.ParseGroupKind(name)
		if kind.Group == "" || foreign.Resource == "" {
			return nil, fmt.Errorf("annotation %s of Chart.yaml: %s must be a kind with its group, and have a resource, as in \"Bucket.example.com: {resource: buckets}\"",
				AnnotationForeignKinds, name)
		}
		if foreign.Option != "" && !optionName.MatchString(foreign.Option) {
			return nil, fmt.Errorf("annotation %s of Chart.yaml: option %q of %s must be a word of letters and digits that begins with a small letter",
				AnnotationForeignKinds, foreign.Option, name)
		}
		kinds[kind] = foreign
	}
	return kinds, nil
}
