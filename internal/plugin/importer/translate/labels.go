package translate

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// ownPods reports whether a selector selects the pods of the workload by labels of the workload's own selector.
func (a *Application) ownPods(selector *metav1.LabelSelector) bool {
	if selector == nil || len(selector.MatchExpressions) > 0 || len(selector.MatchLabels) == 0 {
		return false
	}
	return maps.Equal(selector.MatchLabels, a.Selector.MatchLabels) || maps.Equal(selector.MatchLabels, a.Selecting())
}

// OwnLabels returns the labels that a spec may set: all except those of the selector, Helm, Kubernetes and the
// operator.
func (a *Application) OwnLabels(all map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		domain, name, _ := strings.Cut(key, "/")
		switch {
		case key == "app.kubernetes.io/name", key == "app.kubernetes.io/instance", key == "app.kubernetes.io/managed-by",
			key == "pod-template-hash",
			key == "controller-revision-hash", key == VersionLabel && !a.Stamped(), domain == "app.example.com",
			domain == "helm.sh", domain == "meta.helm.sh":
		case name != "" && domain != "app.kubernetes.io" &&
			(hasDomain(domain, "kubernetes.io") || hasDomain(domain, "k8s.io")):
		default:
			out[key] = value
		}
	}
	return out
}

// contains reports whether a label is there, with a value, which may be empty.
func contains(set map[string]string, key, value string) bool {
	has, there := set[key]
	return there && has == value
}

func hasDomain(domain, of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }

// commonLabels returns the labels that all objects and the pods have in common.
func (a *Application) commonLabels() map[string]string {
	if a.Cron != nil {
		return nil // an AppJob has no such field
	}
	common := a.OwnLabels(a.Template.Labels)
	for _, object := range a.Given {
		has := object.GetLabels()
		maps.DeleteFunc(common, func(key, value string) bool { return !contains(has, key, value) })
	}
	return common
}

func (a *Application) labelPieces() []piece {
	common := a.commonLabels()
	var list []piece
	if len(common) > 0 {
		list = append(list, piece{from: a.from("metadata.labels"),
			set: func(spec *v1.AppServiceSpec) { spec.CommonLabels = asLabels(common) }})
	}
	pods := a.OwnLabels(a.Template.Labels)
	maps.DeleteFunc(pods, func(key, value string) bool { return contains(common, key, value) })
	if len(pods) > 0 {
		list = append(list, piece{from: a.from("spec.template.metadata.labels"),
			set: func(spec *v1.AppServiceSpec) { spec.PodLabels = asLabels(pods) }})
	}
	annotations := foreignAnnotations(a.Template.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return key == containerAnnotation ||
			strings.HasPrefix(key, checksumPrefix)
	})
	if len(annotations) > 0 {
		list = append(list, piece{from: a.from("spec.template.metadata.annotations"),
			set: func(spec *v1.AppServiceSpec) { spec.PodAnnotations = asAnnotations(annotations) }})
	}
	if a.Object.GetAnnotations()[v1.AnnotationReload] == "" && a.Stamped() {
		list = append(list, piece{from: a.from("metadata.annotations"),
			set: func(spec *v1.AppServiceSpec) { spec.ReloadOnChange = ptr.To(false) }})
	}
	return list
}
