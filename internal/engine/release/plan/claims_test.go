package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/postrender"
)

// setOf is a StatefulSet with a claim template of a size and a class, both of a stamp.
func setOf(t *testing.T, stamp, size, class string) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: demo, annotations: {%[1]s: %[2]q}}, spec: {replicas: 2, volumeClaimTemplates: [
	{metadata: {name: data, labels: {a: b}, annotations: {%[1]s: %[2]q}}, spec: {storageClassName: %[4]s, resources: {requests: {storage: %[3]s}}}}]}}`,
		postrender.AnnotationStamp, stamp, size, class))
}

// setOfTwo is a StatefulSet with claim templates of some names, of one size and stamp.
func setOfTwo(t *testing.T, stamp, size string, names ...string) *unstructured.Unstructured {
	t.Helper()
	set := setOf(t, stamp, size, "fast")
	templates := make([]any, 0, len(names))
	for _, name := range names {
		template := ClaimTemplates(set)[0].DeepCopy()
		template.SetName(name)
		templates = append(templates, template.Object)
	}
	require.NoError(t, unstructured.SetNestedSlice(set.Object, templates, "spec", "volumeClaimTemplates"))
	return set
}

func claimOf(t *testing.T, name, stamp, size string) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: demo, labels: {a: b, more: c}, annotations: {app.example.com/retained-for: web, %s: %q}},
	spec: {storageClassName: fast, volumeMode: Filesystem, resources: {requests: {storage: %s}}}}`, name, postrender.AnnotationStamp, stamp, size))
}

func TestClaimsOfAStatefulSet(t *testing.T) {
	going := claimOf(t, "data-web-0", "one", "1Gi")
	going.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	const template = "apply StatefulSet web: spec.volumeClaimTemplates[0].spec."
	cases := map[string]struct {
		desired *unstructured.Unstructured
		live    []client.Object
		want    string
	}{
		"as they were made": {setOf(t, "one", "1Gi", "fast"), []client.Object{setOf(t, "one", "1Gi", "fast"), claimOf(t, "data-web-0", "one", "1Gi")}, ""},
		"the size grows": {
			setOf(t, "two", "2Gi", "fast"),
			[]client.Object{setOf(t, "one", "1Gi", "fast"), claimOf(t, "data-web-1", "one", "1Gi"), claimOf(t, "data-web-0", "one", "1Gi")},
			"apply StatefulSet web; apply PersistentVolumeClaim data-web-0: spec.resources.requests.storage 1Gi → 2Gi; " +
				"apply PersistentVolumeClaim data-web-1: spec.resources.requests.storage 1Gi → 2Gi",
		},
		"one was made of the old template afterwards": {
			setOf(t, "two", "2Gi", "fast"), []client.Object{grown(t), claimOf(t, "data-web-0", "two", "2Gi"), claimOf(t, "data-web-2", "one", "1Gi")},
			"apply PersistentVolumeClaim data-web-2: spec.resources.requests.storage 1Gi → 2Gi",
		},
		"somebody made one larger":   {setOf(t, "one", "1Gi", "fast"), []client.Object{setOf(t, "one", "1Gi", "fast"), claimOf(t, "data-web-0", "one", "3Gi")}, ""},
		"the size shrinks":           {setOf(t, "two", "1Gi", "fast"), []client.Object{setOf(t, "one", "2Gi", "fast")}, template + "resources.requests.storage 2Gi → 1Gi"},
		"another class":              {setOf(t, "two", "1Gi", "slow"), []client.Object{setOf(t, "one", "1Gi", "fast")}, template + "storageClassName fast → slow"},
		"templates without a stamp":  {setOf(t, "two", "2Gi", "fast"), []client.Object{setOf(t, "", "1Gi", "fast")}, template + "resources.requests.storage 1Gi → 2Gi"},
		"one that is going":          {setOf(t, "two", "2Gi", "fast"), []client.Object{grown(t), going}, ""},
		"templates in another order": {setOfTwo(t, "two", "1Gi", "wal", "data"), []client.Object{setOfTwo(t, "one", "1Gi", "data", "wal")}, "apply StatefulSet web"},
		"another order, adopted":     {setOfTwo(t, "one", "1Gi", "wal", "data"), []client.Object{setOfTwo(t, "one", "1Gi", "data", "wal")}, ""},
		"two grow": {
			setOfTwo(t, "two", "2Gi", "data", "wal"),
			[]client.Object{setOfTwo(t, "one", "1Gi", "data", "wal"), claimOf(t, "data-web-0", "one", "1Gi"), claimOf(t, "wal-web-0", "one", "1Gi")},
			"apply StatefulSet web; apply PersistentVolumeClaim data-web-0: spec.resources.requests.storage 1Gi → 2Gi; " +
				"apply PersistentVolumeClaim wal-web-0: spec.resources.requests.storage 1Gi → 2Gi",
		},
		"a claim of another workload": {setOf(t, "two", "2Gi", "fast"), []client.Object{grown(t), claimOf(t, "data-web-0-0", "one", "1Gi"), claimOf(t, "web", "one", "1Gi")}, ""},
		"there before its workload": {
			setOf(t, "two", "2Gi", "fast"), []client.Object{claimOf(t, "data-web-0", "one", "1Gi")},
			"create StatefulSet web; apply PersistentVolumeClaim data-web-0: spec.resources.requests.storage 1Gi → 2Gi",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan := Compare([]*unstructured.Unstructured{test.desired}, there(test.live...))
			if got := plan.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for _, change := range plan.Apply {
				sent, _, _ := unstructured.NestedSlice(change.Desired.Object, "spec", "volumeClaimTemplates")
				if strings.Contains(test.want, template) || sent == nil {
					continue
				}
				live, _, _ := unstructured.NestedSlice(test.live[0].(*unstructured.Unstructured).Object, "spec", "volumeClaimTemplates")
				if fmt.Sprint(sent) != fmt.Sprint(live) {
					t.Errorf("got the templates %v, want %v", sent, live)
				}
			}
		})
	}
}

// grown is the StatefulSet after its claims grew from 1Gi to 2Gi.
func grown(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	set := setOf(t, "one", "1Gi", "fast")
	set.SetAnnotations(map[string]string{postrender.AnnotationStamp: "two"})
	return set
}
