package tree

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// world is a cluster with the AppService web, whose Deployment is from a recording of a real node.
type world struct {
	app, deployment *unstructured.Unstructured
	at              time.Time
	others          []client.Object
}

// client reads the objects of the world.
func (w *world) client(t *testing.T, more ...client.Object) client.Client {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1.AddToScheme} {
		require.NoError(t, add(known))
	}
	return fake.NewClientBuilder().WithScheme(known).WithObjects(kube.Typed(w.deployment)).WithObjects(w.others...).WithObjects(more...).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(object client.Object) []string {
			return []string{string(object.(*corev1.Event).InvolvedObject.UID)}
		}).Build()
}

func recorded(t *testing.T, name string) *world {
	t.Helper()
	text, err := os.ReadFile("../../../test/testdata/diagnosis/" + name + ".yaml")
	require.NoError(t, err)
	var recording struct {
		Time    time.Time                   `json:"time"`
		Objects []unstructured.Unstructured `json:"objects"`
	}
	require.NoError(t, yaml.Unmarshal(text, &recording))
	w := &world{at: recording.Time, app: &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": "nginx"}}}}
	w.app.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	w.app.SetName("web")
	w.app.SetUID("app")
	w.app.SetGeneration(3)
	for i := range recording.Objects {
		object := &recording.Objects[i]
		switch object.GetKind() {
		case "Deployment":
			w.app.SetNamespace(object.GetNamespace())
			object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(w.app, w.app.GroupVersionKind())})
			w.deployment = object
		case "ReplicaSet", "Pod", "Event", "PersistentVolumeClaim":
			w.others = append(w.others, kube.Typed(object))
		}
	}
	return w
}

// said is the status that the operator writes.
func (w *world) said(t *testing.T) *v1.AppServiceStatus {
	t.Helper()
	key := kube.Key{GroupKind: appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), Name: w.deployment.GetName()}
	looked := &diagnose.Findings{Now: w.at}
	looked.Workload, _ = diagnose.WorkloadOf(w.deployment)
	require.NoError(t, diagnose.Collect(t.Context(), w.client(t), looked))
	out, _ := status.Summarize(status.Input{
		Resource: w.app, Previous: &v1.AppServiceStatus{}, Now: metav1.NewTime(w.at),
		Snapshot: &livestate.Snapshot{
			Objects: map[kube.Key]client.Object{key: w.deployment}, Record: &livestate.Record{Revision: 1, Status: "deployed", Chart: "0.1.0"},
		},
		Rendered: []kube.Key{key}, Causes: map[kube.Key][]diagnose.Cause{key: diagnose.Causes(*looked)},
	})
	return out
}

// look is one at the world, whose AppService has a status.
func (w *world) look(t *testing.T, said *v1.AppServiceStatus, reader func(client.Client) client.Reader) *Findings {
	t.Helper()
	text, err := runtime.DefaultUnstructuredConverter.ToUnstructured(said)
	require.NoError(t, err)
	w.app.Object["status"] = text
	there := w.client(t, w.app.DeepCopy())
	looker := Collector{Reader: there, Mapper: testrestmapper.TestOnlyStaticRESTMapper(there.Scheme()), Now: func() time.Time { return w.at }}
	if reader != nil {
		looker.Reader = reader(there)
	}
	found, err := looker.Collect(t.Context(), w.app.GroupVersionKind(), client.ObjectKeyFromObject(w.app), false)
	require.NoError(t, err)
	return found
}

func printed(t *testing.T, n *Node, now time.Time) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, n.Print(&out, func(_ State, text string) string { return text }, now, 0))
	return out.String()
}

// inOrder fails unless a text has all words, each behind the ones before.
func inOrder(t *testing.T, text string, words ...string) {
	t.Helper()
	rest := text
	for _, word := range words {
		_, after, found := strings.Cut(rest, word)
		if !found {
			t.Fatalf("%q is missing, or not where it belongs:\n%s", word, text)
		}
		rest = after
	}
}

func TestWhyOfRecordedTroubles(t *testing.T) {
	for name, words := range map[string][]string{
		"crash-panic":                          {"Ready=False", "Deployment web", "ContainerCrashed: ", "Pod web-", "restarted", "last words: panic: no database", "hint: kubectl logs --namespace=", "--container=app --previous"},
		"crash":                                {"ContainerCrashed: ", "exit code 3", "last words: ", "postgres://…@db"},
		"crash-of-an-init-container":           {`init container "migrate"`, "last words: ", "--container=migrate"},
		"image-not-found":                      {"ImageNotFound: ", "Pod web-", "ImagePullBackOff", "hint: correct name and tag in spec.image", "where values come from", `spec.image  "nginx"  spec`},
		"quota-used-up":                        {"QuotaExceeded: ", `ResourceQuota "team"`, "hint: "},
		"unschedulable-at-first":               {"Unschedulable: ", "counts as lasting at", "not scheduled yet"},
		"probe-readiness-status":               {"ReadinessProbeFailing: ", "HTTP status 404", "Pod web-", "0/1", "spec.probes.readiness  not set: the chart decides"},
		"image-not-found-while-another-serves": {"ImageNotFound: ", "app:3", "Pod web-"},
	} {
		t.Run(name, func(t *testing.T) {
			w := recorded(t, name)
			found := w.look(t, w.said(t), nil)
			text := printed(t, Why(found), w.at)
			inOrder(t, text, words...)
			if len(found.Gaps) > 0 || Well(found) {
				t.Errorf("gaps are %v, well: %t", found.Gaps, Well(found))
			}
			if name == "image-not-found-while-another-serves" && strings.Count(text, "Pod web-") != 1 {
				t.Errorf("pods that show nothing are there, too:\n%s", text)
			}
		})
	}
}

func TestOfWhatIsWellThereIsLittleToSay(t *testing.T) {
	w := recorded(t, "well")
	found := w.look(t, w.said(t), nil)
	if text := printed(t, Why(found), w.at); strings.Count(text, "\n") != 2 || !strings.Contains(text, "└─ Ready=True  Running: ") || !Well(found) {
		t.Errorf("got, well: %t\n%s", Well(found), text)
	}
}
