package explain

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// notesBeside says about each object that stays whether it still finds what it selects.
func (e *explainer) notesBeside() {
	for _, b := range e.Beside {
		found, what := e.stillFinds(b.Object)
		remedy := "keep this one beside it: it finds the " + what + " by labels that they keep"
		if !found {
			remedy = fmt.Sprintf("keep this one beside it, and have it select app.kubernetes.io/name=%s,app.kubernetes.io/instance=%s: "+
				"it selects the %s by labels that they do not keep, unless the AppService adopts the running objects", e.Selecting()["app.kubernetes.io/name"], e.Name, what)
		}
		switch b.Object.GetKind() {
		case "Ingress", "HorizontalPodAutoscaler":
			remedy = "keep this one beside the AppService"
		}
		e.notes.Add(read.Describe(b.Object), "", b.Reason, remedy)
	}
}

// stillFinds reports whether an object selects the pods, or Services, as they are rendered, and what it selects.
func (e *explainer) stillFinds(object *unstructured.Unstructured) (found bool, what string) {
	field, what := "selector", "pods"
	switch object.GetKind() {
	case "NetworkPolicy":
		field = "podSelector"
	case "ServiceMonitor":
		what = "Service"
	}
	content, _, _ := unstructured.NestedMap(object.Object, "spec", field)
	if object.GetKind() == "Service" {
		content = map[string]any{"matchLabels": content}
	}
	selector := read.SelectorOf(content)
	for _, made := range e.Rendered {
		if template := read.PodTemplate(made); what == "pods" && template != nil && made.GetKind() != "Job" && read.Matches(selector, template.Labels) ||
			what == "Service" && made.GetKind() == "Service" && read.Matches(selector, made.GetLabels()) {
			return true, what
		}
	}
	return false, what
}
