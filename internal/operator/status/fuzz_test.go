package status

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	words "github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// FuzzSummarize: whatever is there and was there, the status follows from it alone, and once it is written nothing is left to
// write. Each bit of flags decides about a part of the input.
func FuzzSummarize(f *testing.F) {
	for name, state := range states() {
		workload, err := json.Marshal(state.workload)
		if err != nil {
			f.Fatal(err)
		}
		for _, flags := range []uint16{0, 1, 1 << 5, 1<<9 | 1<<10, uint16(len(name))} {
			f.Add(workload, []byte(`{"spec":{"type":"NodePort","clusterIP":"10.0.0.1","ports":[{"name":"http","port":80,"nodePort":30080}]}}`),
				[]byte(`{"spec":{"rules":[{"host":"a.example.com"}],"tls":[{"hosts":["a.example.com"]}]},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`),
				[]byte(`{"phase":"`+string(state.previous)+`","observedGeneration":7,"conditions":[{"type":"Stalled","status":"True","reason":"ContainerCrashed"}]}`),
				[]byte(`{"size":3,"autoscaling":{"maxReplicas":4}}`), "a message\nof two lines", flags)
		}
	}
	f.Add([]byte(`{"spec":{"template":{"spec":{"containers":[{"image":"\u001b[2J"}]}}}}`), []byte(`{}`),
		[]byte(`{"spec":{"rules":[{"host":"a.example.com","http":{"paths":[{"path":"/\u001b[2J"}]}}]}}`), []byte(`{}`), []byte(`{}`), "\x1b]0;pwned\a", uint16(0xffff))
	f.Fuzz(func(t *testing.T, workload, service, ingress, previous, spec []byte, text string, flags uint16) {
		in := Input{Resource: resource(), Previous: &v1.AppServiceStatus{}, Now: now}
		var content map[string]any
		if json.Unmarshal(previous, in.Previous) != nil || json.Unmarshal(spec, &content) != nil {
			return
		}
		in.Resource.Object["spec"] = content
		in.Snapshot = &livestate.Snapshot{Objects: map[kube.Key]client.Object{}}
		objects := []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &networkingv1.Ingress{}}
		for i, data := range [][]byte{workload, service, ingress} {
			if json.Unmarshal(data, objects[i]) != nil {
				return
			}
			place(in.Snapshot, objects[i])
		}
		fillIn(&in, text, flags)
		summarizes(t, in)
	})
}

// place puts an object into a snapshot under the resource's name, as its cache holds it.
func place(snapshot *livestate.Snapshot, object client.Object) {
	kinds := map[reflect.Type]schema.GroupVersionKind{
		reflect.TypeFor[*appsv1.Deployment]():                     appsv1.SchemeGroupVersion.WithKind("Deployment"),
		reflect.TypeFor[*corev1.Service]():                        corev1.SchemeGroupVersion.WithKind("Service"),
		reflect.TypeFor[*networkingv1.Ingress]():                  networkingv1.SchemeGroupVersion.WithKind("Ingress"),
		reflect.TypeFor[*autoscalingv2.HorizontalPodAutoscaler](): autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[reflect.TypeOf(object)])
	object.SetNamespace("demo")
	object.SetName("web")
	snapshot.Objects[kube.KeyOf(object)] = object
}

func fillIn(in *Input, text string, flags uint16) {
	bit := func(i int) bool { return flags&(1<<i) != 0 }
	for key := range in.Snapshot.Objects {
		if key.Kind == "Deployment" && bit(0) || key.Kind == "Service" && bit(1) || key.Kind == "Ingress" && bit(2) {
			delete(in.Snapshot.Objects, key)
		}
		in.Rendered = append(in.Rendered, key)
	}
	slices.SortFunc(in.Rendered, func(a, b kube.Key) int { return strings.Compare(a.String(), b.String()) })
	if bit(3) {
		in.Snapshot.Record = &livestate.Record{Revision: int(flags), Status: "deployed", Digest: "digest", Chart: text}
	}
	in.Digest = "digest"
	if bit(4) {
		in.Digest = ""
	}
	if bit(5) {
		in.Problem = &Problem{Reason: v1.ReasonUpgradeFailed, Message: text, Blocked: bit(6)}
	}
	in.Paused = bit(7)
	if bit(8) {
		place(in.Snapshot, &autoscalingv2.HorizontalPodAutoscaler{})
	}
	if bit(9) {
		in.Causes = ofDeployment(diagnose.Cause{Reason: v1.ReasonContainerCrashed, Effect: diagnose.Effect(flags >> 10 & 3 % 3)})
	}
	if bit(12) {
		in.Missing = []reference.Reference{{Object: reference.Object{Name: text}}}
	}
	if bit(13) {
		in.Unserved = []kube.Key{{GroupKind: schema.GroupKind{Kind: "HTTPRoute"}, Name: "web"}}
	}
}

func summarizes(t *testing.T, in Input) {
	t.Helper()
	before := in.Previous.DeepCopy()
	first := summarize(in)
	if !reflect.DeepEqual(before, in.Previous) {
		t.Error("it changed the status before")
	}
	if second := summarize(in); !reflect.DeepEqual(first, second) {
		t.Errorf("the same input makes another status:\n%+v\n%+v", first, second)
	}
	in.Previous, in.Now = first, metav1.NewTime(in.Now.Add(time.Hour))
	again := summarize(in)
	if a, b := printed(t, first), printed(t, again); a != b {
		t.Errorf("written, it is not the last word:\n%s\n%s", a, b)
	}
	said := []string{first.Image, first.URL}
	for _, endpoint := range first.Endpoints {
		said = append(said, endpoint.URL)
	}
	for _, problem := range first.Problems {
		said = append(said, problem.Source, problem.Message, problem.Hint)
	}
	for _, condition := range first.Conditions {
		if slices.Contains(ours, condition.Type) && condition.ObservedGeneration == first.ObservedGeneration {
			said = append(said, condition.Message)
		}
	}
	for _, text := range said {
		if strings.IndexFunc(text, words.IsControl) >= 0 {
			t.Errorf("terminals act on what it says: %q", text)
		}
	}
	for _, condition := range first.Conditions {
		if len([]rune(condition.Message)) > maxMessage && slices.Contains(ours, condition.Type) {
			t.Errorf("%s has a message of %d characters", condition.Type, len(condition.Message))
		}
	}
}

// ours are the types of our conditions: others in the status before stay as they are.
var ours = []string{
	v1.ConditionReady, v1.ConditionAvailable, v1.ConditionProgressing, v1.ConditionDeployed, v1.ConditionReconciling, v1.ConditionStalled,
}

func printed(t *testing.T, status *v1.AppServiceStatus) string {
	t.Helper()
	content, err := json.Marshal(status)
	require.NoError(t, err)
	return string(content)
}
