package chart

import (
	"fmt"
	"regexp"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// AnnotationForeignKinds of a Chart.yaml describes kinds that are not part of Kubernetes, by kind and group, for
// example "Bucket.example.com: {resource: buckets, option: storage}".
const AnnotationForeignKinds = "app.example.com/foreign-kinds"

// optionName matches names that are valid as a folder and as a key of values.
var optionName = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// Foreign describes a kind that is not part of Kubernetes.
type Foreign struct {
	// Resource is its name in URLs and in rules of roles: the plural of its CRD.
	Resource string `json:"resource"`
	// ClusterScoped says that the kind is cluster-scoped.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
	// Option is the name by which an installation requests the rights for it; if it is empty, every installation has them.
	Option string `json:"option,omitempty"`
}

// ForeignKinds returns a chart's descriptions of such kinds.
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
