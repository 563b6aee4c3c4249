package explain

import (
	"strings"

	"github.com/example/appservice-operator/internal/plugin/importer/read"

	"github.com/example/appservice-operator/internal/plugin/importer/proof"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
)

// explainer explains the differences between the objects that an AppService is made of and those that it makes.
type explainer struct {
	*translate.Application
	notes read.Notes
	// labels are the differences of labels of objects.
	labels []proof.Difference
}

// Roles of objects in rules. For all others, it is the kind, by which rules find the Service of replicas, too.
const (
	roleWorkload = "workload"
	roleTask     = "release task"
	roleReplicas = "the Service that names replicas"
)

// role is what rules call an object.
func (e *explainer) role(d proof.Difference) string {
	switch {
	case d.Before == e.Object:
		return roleWorkload
	case d.Before.GetKind() == "Job":
		return roleTask
	case e.Headless != nil && d.Before == e.Headless.Object:
		return roleReplicas
	}
	return d.Before.GetKind()
}

// pathOf returns a field of the pods as it is called in the workload.
func (e *explainer) pathOf(field string) string {
	rest, pods := strings.CutPrefix(field, "spec.template.")
	switch {
	case pods && e.Object.GetKind() == "Pod":
		return rest
	case pods && e.Object.GetKind() == "CronJob":
		return "spec.jobTemplate.spec.template." + rest
	}
	return field
}

// within reports whether one of two paths is part of the other.
func within(field, of string) bool {
	below := func(a, b string) bool {
		return strings.HasPrefix(a, b+".") || strings.HasPrefix(a, b+"[") || strings.HasPrefix(a, b+" ")
	}
	return field == of || below(field, of) || below(of, field)
}
