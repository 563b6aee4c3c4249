package chart

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Warnings returns what has no effect in a chart that loads, and in its subcharts.
func Warnings(c *chart.Chart) []*Fault {
	list := neverAfter(c)
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

var (
	stageAfter = regexp.MustCompile(`(?m)^( *)["']?` + regexp.QuoteMeta(v1.AnnotationStage) + `["']?: *["']?after["']?\s*$`)
	runsOnce   = regexp.MustCompile(regexp.QuoteMeta(v1.AnnotationRerun) + `["']?: *["']?[^"'\s]`)
	document   = regexp.MustCompile(`(?m)^---`)
)

// neverAfter returns a warning for each template of an object that does not wait for the rest of its release, although
// it has the annotation stage: only Jobs that run once do.
func neverAfter(c *chart.Chart) (list []*Fault) {
	for _, file := range TemplateFiles(c) {
		line := 1
		for _, text := range document.Split(file.withoutComments(), -1) {
			if at := stageAfter.FindStringSubmatchIndex(text); at != nil && !runsOnce.MatchString(text) {
				list = append(list, &Fault{Rule: RuleStage, File: inside(file), Line: line + strings.Count(text[:at[0]], "\n"),
					Column: at[3] - at[2] + 1, Text: file.Text,
					Message: fmt.Sprintf("annotation %s: after has no effect: the object is written with the rest", v1.AnnotationStage),
					Remedy:  fmt.Sprintf("make it a Job with %s, which starts when the release is Ready", v1.AnnotationRerun)})
			}
			line += strings.Count(text, "\n")
		}
	}
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
