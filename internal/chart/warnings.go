package chart

import "helm.sh/helm/v3/pkg/chart"

// Warnings returns what has no effect in a chart that loads, and in its subcharts.
func Warnings(c *chart.Chart) []*Fault {
	var list []*Fault
	var look func(folder string, c *chart.Chart)
	look = func(folder string, c *chart.Chart) {
		for _, file := range c.Raw {
			if file.Name == "values.schema.json" {
				list = append(list, outsideOf(folder, string(file.Data))...)
			}
		}
		for _, dependency := range c.Dependencies() {
			look(folder+"charts/"+dependency.Name()+"/", dependency)
		}
	}
	look("", c)
	return list
}
