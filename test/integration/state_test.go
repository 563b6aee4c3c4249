package integration

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
)

// stateOf returns the status of an AppService and its objects, without what is never the same twice: identities, times,
// counters of changes, and what the cluster allocates. Objects come from a cache: to read every kind from the API server again
// and again would keep it from all else.
func stateOf(t *testing.T, objects client.Reader, app *v1.AppService) map[string]any {
	t.Helper()
	self := &unstructured.Unstructured{}
	self.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), self); err != nil {
		t.Fatal(err)
	}
	state := map[string]any{"status": anonymous(t, app, self.Object["status"].(map[string]any))}
	kinds, err := renderedKinds()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := objects.List(t.Context(), list, client.InNamespace(app.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if object := &list.Items[i]; belongsTo(self, object) {
				state[object.GetKind()+" "+object.GetName()] = anonymous(t, app, object.Object)
			}
		}
	}
	return state
}

// belongsTo reports whether an AppService controls or keeps an object, release records excepted.
func belongsTo(app, object *unstructured.Unstructured) bool {
	if object.GetLabels()["owner"] == "helm" {
		return false
	}
	if object.GetLabels()[v1.LabelManaged] == "true" && object.GetAnnotations()["meta.helm.sh/release-name"] == app.GetName() {
		return true
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == app.GetUID() })
}

var renderedKinds = sync.OnceValues(func() ([]schema.GroupVersionKind, error) {
	loaded, err := chart.Load(appservice.Files, "helm-charts/appservice")
	if err != nil {
		return nil, err
	}
	return chart.Kinds(loaded), nil
})

// neverTheSame are the fields that differ between any two objects.
var neverTheSame = []string{
	"uid", "resourceVersion", "generation", "observedGeneration", "managedFields",
	"creationTimestamp", "lastTransitionTime", "lastUpdateTime", "lastScaleTime",
	"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "volumeName",
	"deployment.kubernetes.io/revision", postrender.AnnotationStamp, // it covers the UID of the owner
	"revision", "digest", // of the release
}

var allocated = regexp.MustCompile(`//NODE:\d+`)

func anonymous(t *testing.T, app *v1.AppService, content map[string]any) any {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), app.Namespace, "NAMESPACE"))
	text = allocated.ReplaceAll(text, []byte("//NODE:PORT"))
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if object, ok := out.(map[string]any); ok && object["kind"] != nil {
		unstructured.RemoveNestedField(object, "status", "conditions") // they tell of the last change
	}
	return without(out)
}

// lastChange are the conditions of an AppService that tell what was done last, and how the last rollout ended.
var lastChange = map[any]bool{v1.ConditionDeployed: true, v1.ConditionProgressing: true}

// without takes away what is never the same.
func without(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range neverTheSame {
			if content, found := value[key]; found && content != "None" {
				delete(value, key)
			}
		}
		if lastChange[value["type"]] && value["status"] == "True" {
			delete(value, "reason")
			delete(value, "message")
		}
		for key := range value {
			value[key] = without(value[key])
		}
	case []any:
		for i := range value {
			value[i] = without(value[i])
		}
	}
	return value
}

// withoutKept takes claims away that outlive the field that asked for them.
func withoutKept(wanted, got map[string]any) {
	for name, content := range got {
		object := &unstructured.Unstructured{}
		object.Object, _ = content.(map[string]any)
		if wanted[name] == nil && object.GetKind() != "" && kube.RetainedFor(object) != "" {
			delete(got, name)
		}
	}
}

// differences lists the fields in which two values differ, with both values.
func differences(path string, wanted, got any) []string {
	a, mapA := wanted.(map[string]any)
	b, mapB := got.(map[string]any)
	if mapA && mapB {
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, differences(path+"."+key, a[key], b[key])...)
		}
		return out
	}
	if reflect.DeepEqual(wanted, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s: fresh %v, toggled %v", path, wanted, got)}
}
