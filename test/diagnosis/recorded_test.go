// Package diagnosis tests what the status says of troubles that were recorded from a real cluster: its API server, scheduler,
// controllers and kubelet. test/diagnosis/record records them again.
package diagnosis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// folder of the recordings.
const folder = "../testdata/diagnosis"

// recording is what test/diagnosis/record keeps of a scenario.
type recording struct {
	Time       time.Time                   `json:"time"`
	Kubernetes string                      `json:"kubernetes"`
	Objects    []unstructured.Unstructured `json:"objects"`
}

func load(t *testing.T, name string) recording {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
	require.NoError(t, err)
	var recorded recording
	require.NoError(t, yaml.UnmarshalStrict(text, &recorded), "cannot read the recording")
	return recorded
}

// findings are what a look at the recorded cluster finds: no more events and claims than a look asks for.
func (r recording) findings(t *testing.T) diagnose.Findings {
	t.Helper()
	out := diagnose.Findings{Now: r.Time}
	var events []corev1.Event
	var claims []corev1.PersistentVolumeClaim
	for _, object := range r.Objects {
		switch object.GetKind() {
		case "Deployment":
			out.Workload, _ = diagnose.WorkloadOf(&object)
		case "ReplicaSet":
			out.ReplicaSets = append(out.ReplicaSets, *decode[appsv1.ReplicaSet](t, object))
		case "Pod":
			out.Pods = append(out.Pods, *decode[corev1.Pod](t, object))
		case "Event":
			events = append(events, *decode[corev1.Event](t, object))
		case "PersistentVolumeClaim":
			claims = append(claims, *decode[corev1.PersistentVolumeClaim](t, object))
		}
	}
	about := map[types.UID]bool{}
	for _, uid := range out.Suspects() {
		about[uid] = true
	}
	for _, name := range out.Waits() {
		for _, claim := range claims {
			if claim.Name == name {
				out.Claims, about[claim.UID] = append(out.Claims, claim), true
			}
		}
	}
	for _, event := range events {
		if about[event.InvolvedObject.UID] {
			out.Events = append(out.Events, event)
		}
	}
	return out
}

func decode[T any](t *testing.T, object unstructured.Unstructured) *T {
	t.Helper()
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out); err != nil {
		t.Fatalf("cannot decode %s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return out
}

// summary is the status of an AppService whose Deployment is in a recording.
func (r recording) summary(t *testing.T) *v1.AppServiceStatus {
	t.Helper()
	resource := &unstructured.Unstructured{}
	resource.SetName("web")
	snapshot := &livestate.Snapshot{Objects: map[kube.Key]client.Object{}}
	in := status.Input{
		Resource: resource, Previous: &v1.AppServiceStatus{}, Snapshot: snapshot, Now: metav1.NewTime(r.Time),
		Causes: map[kube.Key][]diagnose.Cause{},
	}
	for i := range r.Objects {
		object := &r.Objects[i]
		key := kube.KeyOf(object)
		switch object.GetKind() {
		case "Deployment":
			in.Causes[key] = diagnose.Causes(r.findings(t))
		case "HorizontalPodAutoscaler", "Ingress":
		default:
			continue
		}
		snapshot.Objects[key], in.Rendered = object, append(in.Rendered, key)
	}
	summary, _ := status.Summarize(in)
	return summary
}

func TestRecordingsAreOfARealCluster(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got no recordings (error %v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		recorded := load(t, name)
		if len(recorded.Objects) == 0 || recorded.Kubernetes == "" {
			t.Errorf("%s: there is nothing in it", name)
		}
		for _, object := range recorded.Objects {
			if object.GetKind() == "Status" {
				continue
			}
			if object.GetUID() == "" || len(object.GetManagedFields()) == 0 {
				t.Errorf("%s: %s %s has no UID or no managed fields", name, object.GetKind(), object.GetName())
			}
		}
		if _, known := rows[name]; !known && !strings.HasPrefix(name, "node-port-") { // those are tested in internal/engine/release
			t.Errorf("%s: no row speaks of it", name)
		}
	}
}
