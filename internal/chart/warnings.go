package chart

import (
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
)

// Warnings returns what has no effect in a chart that loads, and in its subcharts.
func Warnings(c *chart.Chart) []*Fault {
	var list []*Fault
	var look func(folder string, c *chart.Chart)
	look = func(folder string, c *chart.Chart) {
		var definitions []string
		for _, file := range c.Raw {
			switch {
			case file.Name == "values.schema.json":
				list = append(list, outsideOf(folder, string(file.Data))...)
			case strings.HasPrefix(file.Name, "crds/") && isManifest(file.Name):
				definitions = append(definitions, strings.TrimPrefix(file.Name, "crds/"))
			}
		}
		if len(definitions) > 0 {
			list = append(list, uninstalled(folder+"crds", definitions))
		}
		for _, dependency := range c.Dependencies() {
			look(folder+"charts/"+dependency.Name()+"/", dependency)
		}
	}
	look("", c)
	return list
}

// isManifest reports whether Helm would install a file of the folder crds.
func isManifest(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// uninstalled returns the warning for a folder crds.
func uninstalled(folder string, files []string) *Fault {
	shown := files[0]
	if len(files) > 1 {
		shown += fmt.Sprintf(" and %d more", len(files)-1)
	}
	return &Fault{Rule: RuleCRDs, File: folder, Message: "is not installed (" + shown + "): this operator creates no CustomResourceDefinitions",
		Remedy: "install them before the operator, as in kubectl apply --server-side -f " + folder + ", and list crds/ in the .helmignore of the chart"}
}
