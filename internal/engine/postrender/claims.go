package postrender

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Claims marks the objects created from claim templates: the caches select a claim by its label, the owner's name and
// UID identify its resource, and the stamp the version of its template. Controllers, not this operator, create the
// claims.
func Claims(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		for _, content := range claimTemplates(object) {
			template := &unstructured.Unstructured{Object: content}
			template.SetLabels(labels.Merge(template.GetLabels(), map[string]string{
				v1.LabelManaged: "true", v1.LabelOwner: string(in.Owner.GetUID())}))
			template.SetAnnotations(labels.Merge(template.GetAnnotations(),
				map[string]string{v1.AnnotationRetainedFor: in.Owner.GetName()}))
			data, err := json.Marshal(content)
			if err != nil {
				return notValid(object, err)
			}
			template.SetAnnotations(labels.Merge(template.GetAnnotations(),
				map[string]string{AnnotationStamp: digest.Of(data)[:32]}))
		}
	}
	return nil
}

// claimTemplates returns those of a workload, not copied; nil if there are none.
func claimTemplates(of *unstructured.Unstructured) (templates []map[string]any) {
	path := kube.TraitsOf(of.GroupVersionKind().GroupKind()).Claims
	if path == nil {
		return nil
	}
	content, _, _ := unstructured.NestedFieldNoCopy(of.Object, path...)
	list, _ := content.([]any)
	for _, item := range list {
		if template, _ := item.(map[string]any); template != nil { // Canonical refuses others
			templates = append(templates, template)
		}
	}
	return templates
}
