package podtemplate

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// FuzzApply: whatever a patch is, it is refused in one line that names the field, or the pods are still those of the service: they decode
// strictly, have the labels of the selector and the main container first, start again when they end, and are the same each time.
func FuzzApply(f *testing.F) {
	for _, patch := range []string{
		`{}`, `{"spec":{}}`, `{"metadata":{"labels":{"a":"b"},"annotations":{"c":null}}}`,
		`{"spec":{"containers":[{"name":"app","env":[{"name":"A","$patch":"delete"},{"name":"B","value":"x"}]},{"name":"spy","image":"a"}]}}`,
		`{"spec":{"containers":[{"$patch":"replace"},{"name":"app","image":"a"}],"volumes":[{"name":"data","emptyDir":null,"configMap":{"name":"a"}}]}}`,
		`{"spec":{"nodeSelector":null,"tolerations":[{"key":"a"}],"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":1,"whenUnsatisfiable":"b"}]}}`,
		`{"spec":{"volumes":[{"name":"a","projected":{"sources":[{"secret":{"name":"b"}}]}},{"name":"data","$patch":"delete"}],"securityContext":{"sysctls":[{"name":"a","value":"b"}]}}}`,
		`{"spec":{"$retainKeys":["a"],"$setElementOrder/containers":[{"name":"a"}],"$deleteFromPrimitiveList/x":[1]}}`,
		`{"spec":{"volumes":[{"name":"a","ephemeral":{"volumeClaimTemplate":{"metadata":{"managedFields":[{"fieldsV1":{"a":{}}}]},"spec":{}}}}]}}`,
	} {
		f.Add([]byte(patch))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		if utiljson.Unmarshal(data, &value) != nil {
			return // the API server hands out nothing else
		}
		patch, err := Of(appService(), map[string]any{"podTemplate": value})
		var refused *Error
		if err != nil {
			if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "spec.podTemplate") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got error %q", err)
			}
			return
		}
		objects := []*unstructured.Unstructured{workload(t, "Deployment", pods), workload(t, "Deployment", pods)}
		for _, object := range objects {
			if err := patch.Apply([]*unstructured.Unstructured{object}); err != nil {
				t.Fatalf("what was found to be sound cannot be merged: %v", err)
			}
		}
		first, second := asJSON(t, templateOf(t, objects[0])), asJSON(t, templateOf(t, objects[1]))
		if first != second {
			t.Errorf("merged twice, it is not the same: %s\n%s", first, second)
		}
		var template corev1.PodTemplateSpec
		strict, err := kjson.UnmarshalStrict([]byte(first), &template)
		if err = errors.Join(append(strict, err)...); err != nil {
			t.Fatalf("got no pod template: %v", err)
		}
		switch {
		case template.Labels["app.kubernetes.io/name"] != "appservice" || template.Name != "" || len(template.Finalizers)+len(template.OwnerReferences) > 0:
			t.Errorf("got metadata %+v", template.ObjectMeta)
		case len(template.Spec.Containers) == 0 || template.Spec.Containers[0].Name != "app":
			t.Errorf("got containers %+v", template.Spec.Containers)
		case template.Spec.RestartPolicy != "" && template.Spec.RestartPolicy != corev1.RestartPolicyAlways:
			t.Errorf("got the policy %s", template.Spec.RestartPolicy)
		}
	})
}
