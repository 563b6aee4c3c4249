package chart

import "helm.sh/helm/v3/pkg/chart"

// Copy copies the parts that Helm writes to when it processes dependencies.
func Copy(c *chart.Chart) *chart.Chart {
	copied := *c
	metadata := *c.Metadata
	copied.Metadata = &metadata
	copied.Metadata.Dependencies = nil
	for _, dependency := range c.Metadata.Dependencies {
		d := *dependency
		copied.Metadata.Dependencies = append(copied.Metadata.Dependencies, &d)
	}
	copied.Values = deepCopy(c.Values)
	dependencies := make([]*chart.Chart, 0, len(c.Dependencies()))
	for _, dependency := range c.Dependencies() {
		dependencies = append(dependencies, Copy(dependency))
	}
	copied.SetDependencies(dependencies...)
	return &copied
}

func deepCopy(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for key, value := range in {
		if nested, ok := value.(map[string]any); ok {
			value = deepCopy(nested)
		}
		out[key] = value
	}
	return out
}
