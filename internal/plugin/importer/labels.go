package importer

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

const (
	// containerAnnotation names the default container of kubectl.
	containerAnnotation = "kubectl.kubernetes.io/default-container"
	// checksumPrefix is the prefix of annotations with which charts roll pods when a ConfigMap or Secret changes.
	checksumPrefix = "checksum/"
	// versionLabel is the label with the version of the application that a chart is for.
	versionLabel = "app.kubernetes.io/version"
)

// ownPods reports whether a selector selects the pods of the workload by labels of the workload's own selector.
func (s *subject) ownPods(selector *metav1.LabelSelector) bool {
	if selector == nil || len(selector.MatchExpressions) > 0 || len(selector.MatchLabels) == 0 {
		return false
	}
	return maps.Equal(selector.MatchLabels, s.selector.MatchLabels) || maps.Equal(selector.MatchLabels, s.selecting())
}

// ownLabels returns the labels that a spec may set: all except those of the selector, Helm, Kubernetes and the
// operator.
func (s *subject) ownLabels(all map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		domain, name, _ := strings.Cut(key, "/")
		switch {
		case key == "app.kubernetes.io/name", key == "app.kubernetes.io/instance", key == "app.kubernetes.io/managed-by",
			key == "pod-template-hash",
			key == "controller-revision-hash", key == versionLabel && !s.stamped(), domain == "app.example.com",
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
func (s *subject) commonLabels() map[string]string {
	if s.cron != nil {
		return nil // an AppJob has no such field
	}
	common := s.ownLabels(s.template.Labels)
	for _, object := range s.given {
		has := object.GetLabels()
		maps.DeleteFunc(common, func(key, value string) bool { return !contains(has, key, value) })
	}
	return common
}

func (s *subject) labelPieces() []piece {
	common := s.commonLabels()
	var list []piece
	if len(common) > 0 {
		list = append(list, piece{from: s.from("metadata.labels"),
			set: func(spec *v1.AppServiceSpec) { spec.CommonLabels = asLabels(common) }})
	}
	pods := s.ownLabels(s.template.Labels)
	maps.DeleteFunc(pods, func(key, value string) bool { return contains(common, key, value) })
	if len(pods) > 0 {
		list = append(list, piece{from: s.from("spec.template.metadata.labels"),
			set: func(spec *v1.AppServiceSpec) { spec.PodLabels = asLabels(pods) }})
	}
	annotations := foreignAnnotations(s.template.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return key == containerAnnotation ||
			strings.HasPrefix(key, checksumPrefix)
	})
	if len(annotations) > 0 {
		list = append(list, piece{from: s.from("spec.template.metadata.annotations"),
			set: func(spec *v1.AppServiceSpec) { spec.PodAnnotations = asAnnotations(annotations) }})
	}
	if s.workload.GetAnnotations()[v1.AnnotationReload] == "" && s.stamped() {
		list = append(list, piece{from: s.from("metadata.annotations"),
			set: func(spec *v1.AppServiceSpec) { spec.ReloadOnChange = ptr.To(false) }})
	}
	return list
}

// stamped reports whether an AppService rendered the workload.
func (s *subject) stamped() bool { return s.workload.GetAnnotations()[v1.AnnotationStamp] != "" }
