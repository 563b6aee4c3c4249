// Package endstate compares what AppServices became. It owns the list of fields that are never the same twice, with
// reasons.
package endstate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// Of is the status of an AppService, under the key status, and its objects, under kind and name, without what is
// never the same twice: identities, times, counters of changes, and what the cluster allocates. Objects are read from
// a reader of their own, which may be a cache: to read every kind from the API server again and again would keep it
// from all else.
func Of(ctx context.Context, live, objects client.Reader, app *v1.AppService) (map[string]any, error) {
	self := &unstructured.Unstructured{}
	self.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	if err := live.Get(ctx, client.ObjectKeyFromObject(app), self); err != nil {
		return nil, err
	}
	status, _ := self.Object["status"].(map[string]any)
	found, err := Objects(ctx, objects, self)
	if err != nil {
		return nil, err
	}
	state := map[string]any{"status": Anonymous(app, status)}
	for _, object := range found {
		state[object.GetKind()+" "+object.GetName()] = Anonymous(app, object.Object)
	}
	return state, nil
}

// The kinds that the charts of AppService and AppJob render.
var (
	kinds    = sync.OnceValues(func() ([]schema.GroupVersionKind, error) { return kindsOf("helm-charts/appservice") })
	jobKinds = sync.OnceValues(func() ([]schema.GroupVersionKind, error) { return kindsOf("helm-charts/appjob") })
)

func kindsOf(folder string) ([]schema.GroupVersionKind, error) {
	loaded, err := chart.Load(appservice.Files, folder)
	if err != nil {
		return nil, err
	}
	return chart.Kinds(loaded), nil
}

// Objects lists what an AppService controls or keeps, release records excepted. Nobody may change objects from a cache.
func Objects(ctx context.Context, objects client.Reader, app client.Object) ([]*unstructured.Unstructured, error) {
	kinds, err := kinds()
	if err != nil {
		return nil, err
	}
	return objectsOf(ctx, objects, app, kinds)
}

// JobObjects lists the same of an AppJob.
func JobObjects(ctx context.Context, objects client.Reader, job client.Object) ([]*unstructured.Unstructured, error) {
	kinds, err := jobKinds()
	if err != nil {
		return nil, err
	}
	return objectsOf(ctx, objects, job, kinds)
}

func objectsOf(ctx context.Context, objects client.Reader, app client.Object, kinds []schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := objects.List(ctx, list, client.InNamespace(app.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if object := &list.Items[i]; belongs(object, app) {
				found = append(found, object)
			}
		}
	}
	return found, nil
}

func belongs(object *unstructured.Unstructured, app client.Object) bool {
	if object.GetLabels()["owner"] == "helm" {
		return false
	}
	if object.GetLabels()[v1.LabelManaged] == "true" && object.GetAnnotations()["meta.helm.sh/release-name"] == app.GetName() {
		return true
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == app.GetUID() })
}

// By is what compares: Ends what AppServices became, however they got there, and Plays all that the same steps led to in two
// namespaces (package scenario, which besides leaves out what differs between two plays without faults).
type By int

// The comparisons.
const (
	Ends By = 1 << iota
	Plays
	both = Ends | Plays
)

// neverTheSame are the fields that differ between any two objects, and who leaves them out.
var neverTheSame = map[string]By{
	"uid": both, "resourceVersion": both, "managedFields": both,
	"creationTimestamp": both, "startTime": both, "completionTime": both, "lastTransitionTime": both, "lastUpdateTime": both, "lastScaleTime": both,
	"nextAttemptTime": both,
	"clusterIP":       both, "clusterIPs": both, "nodePort": both, "healthCheckNodePort": both, // the cluster allocates them
	// They count changes: the same steps make as many.
	"generation": Ends, "observedGeneration": Ends, "revision": Ends, "deployment.kubernetes.io/revision": Ends, v1.AnnotationGeneratedVersion: Ends,
	// They name or cover UIDs: plays put a word in their place.
	"batch.kubernetes.io/controller-uid": Ends, "controller-uid": Ends, "digest": Ends,
	postrender.AnnotationStamp: Ends, postrender.AnnotationReferences: Ends, postrender.AnnotationChecksum: Ends, v1.AnnotationChecksumKey: Ends,
	v1.LabelOwner: Ends,
	"volumeName":  Ends, "expirationTime": Ends, "hosts": Ends, // by history: since when it serves them
	"since": Plays, "lastProbeTime": Plays, // times, which ends compare where they have them
	"first_deployed": Plays, "last_deployed": Plays, "modifiedAt": Plays, "createdAt": Plays, // of a release record
	"collisionCount": Plays, // of a Deployment that was created again before the earlier ReplicaSet was deleted
}

// LeavesOut reports whether a comparison leaves out a field with this content.
func (by By) LeavesOut(field string, content any) bool {
	return neverTheSame[field]&by != 0 && content != "None"
}

var allocated = regexp.MustCompile(`//NODE:\d+`)

// WithoutPorts is a text without the numbers of ports that the cluster allocates.
func WithoutPorts(text string) string { return allocated.ReplaceAllString(text, "//NODE:PORT") }

// Anonymous is content of an AppService or of one of its objects without what is never the same twice.
func Anonymous(app *v1.AppService, content map[string]any) any {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // it came as JSON
	}
	text = []byte(WithoutPorts(strings.ReplaceAll(string(text), app.Namespace, "NAMESPACE")))
	var out any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	if object, ok := out.(map[string]any); ok && object["kind"] != nil {
		unstructured.RemoveNestedField(object, "status", "conditions") // they describe the last change
		hideGenerated(&unstructured.Unstructured{Object: object})
	}
	return without(out)
}

// hideGenerated takes the values away that the operator has made at random.
func hideGenerated(object *unstructured.Unstructured) {
	names := object.GetAnnotations()[v1.AnnotationGenerated]
	data, _ := object.Object["data"].(map[string]any)
	for name := range strings.SplitSeq(names, ",") {
		if _, found := data[name]; found {
			data[name] = "generated"
		}
	}
}

// lastChange are the conditions of an AppService that say what was done last, and how the last rollout ended.
var lastChange = map[any]bool{v1.ConditionDeployed: true, v1.ConditionProgressing: true}

// without takes away what is never the same.
func without(value any) any {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, Ends.LeavesOut)
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

// WithoutKept takes claims away that outlive the field that asked for them.
func WithoutKept(wanted, got map[string]any) {
	for name, content := range got {
		object := &unstructured.Unstructured{}
		object.Object, _ = content.(map[string]any)
		if wanted[name] == nil && object.GetKind() != "" && kube.RetainedFor(object) != "" {
			delete(got, name)
		}
	}
}

// Differences lists the fields in which two values differ, with both values.
func Differences(path string, wanted, got any) []string {
	a, mapA := wanted.(map[string]any)
	b, mapB := got.(map[string]any)
	if mapA && mapB {
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, Differences(path+"."+key, a[key], b[key])...)
		}
		return out
	}
	if reflect.DeepEqual(wanted, got) {
		return nil
	}
	if listA, listB := list(wanted), list(got); listA != nil && len(listA) == len(listB) {
		var out []string
		for i := range listA {
			out = append(out, Differences(fmt.Sprintf("%s[%d]", path, i), listA[i], listB[i])...)
		}
		return out
	}
	return []string{fmt.Sprintf("%s: want %v, got %v", path, wanted, got)}
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}
