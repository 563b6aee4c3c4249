package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/render/typecheck"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// object returns the failures of an object as rendered by the templates.
func (t *trial) object(owner, object *unstructured.Unstructured) []failure {
	var list []failure
	kind := object.GroupVersionKind()
	for _, misfit := range typecheck.Check(object, allowed) {
		list = append(list, failure{rule: ruleAPI, path: misfit.Path,
			message: "is not valid: " + misfit.Field() + ": " + misfit.Message, ends: true})
	}
	if namespace := object.GetNamespace(); namespace != "" && namespace != owner.GetNamespace() {
		list = append(list, failure{
			rule: ruleNamespace, path: []any{"metadata", "namespace"}, ends: true,
			message: fmt.Sprintf("is rendered into namespace %q: leave metadata.namespace out, or make it .Release.Namespace",
				namespace),
		})
	}
	if t.clusterScoped(kind) {
		list = append(list, failure{
			rule: ruleClusterScoped, path: []any{"kind"},
			message: "is cluster-scoped: it is deleted by a finalizer, and resources of different namespaces can conflict over it",
		})
	}
	_, hasRule := object.GetAnnotations()[v1.AnnotationReadyWhen]
	if !hasRule && !scheme.Scheme.Recognizes(kind) && !health.HasRule(object) {
		list = append(list, failure{
			rule: ruleReady, path: []any{"kind"},
			message: "is of a custom kind, so it counts as ready unless its conditions deny it: define readiness in annotation " + v1.AnnotationReadyWhen,
		})
	}
	return append(list, t.unnamed(object)...)
}

// unnamed returns a failure if the operator has no right to write an object whose kind no template names literally.
func (t *trial) unnamed(object *unstructured.Unstructured) []failure {
	kind := object.GroupVersionKind()
	if t.subject.Granted == nil || slices.Contains(chart.Kinds(t.chart), kind) {
		return nil
	}
	need := rbac.OfRendered(t.chart, kind, "a template")
	missing := t.subject.Granted.Lacks(need)
	if len(missing) == 0 {
		return nil
	}
	return []failure{{rule: ruleRights, path: []any{"kind"},
		message: fmt.Sprintf("is a kind that the operator may not %s: %s", strings.Join(missing, ", "), need.Remedy())}}
}

// placed returns a failure as an error from which render finds the line.
func placed(of failure) error {
	return &placedError{of.message, typecheck.Misfits{{Path: of.path, Message: of.message}}}
}

type placedError struct {
	message string
	misfits typecheck.Misfits
}

func (e *placedError) Error() string { return e.message }
func (e *placedError) Unwrap() error { return e.misfits }
