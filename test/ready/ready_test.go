// Package ready holds Ready to what it promises: that all that was rendered works. Each case is what a chart rendered and what is live of
// it, and what people, kubectl, kstatus and Argo CD have to make of the status.
package ready

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/operator/status/reason"
	"github.com/example/appservice-operator/test/argo"
)

// readyCase is one case of testdata.
type readyCase struct {
	Case string `json:"case"`
	// Live are the existing objects, and Absent those, as in apps/Deployment/web, that were rendered and are not.
	Live   []map[string]any `json:"live"`
	Absent []string         `json:"absent"`
	// Missing are referenced objects that do not exist, as in IngressClass/nginx; Others are the names of existing ones.
	Missing []string `json:"missing"`
	Others  []string `json:"others"`
	// Causes are what a look at pods found to last, by object, as in apps/StatefulSet/web: reason and words.
	Causes map[string][2]string `json:"causes"`
	// Age is the time since everything was created; an hour if it is zero.
	Age string `json:"age"`
	// Ready, Stalled and Reason are those of the conditions that are wanted, and Says is what their message has to say.
	Ready   bool     `json:"ready"`
	Stalled bool     `json:"stalled"`
	Reason  string   `json:"reason"`
	Says    []string `json:"says"`
	// Warns is the reason of the warning that is wanted; empty for none.
	Warns string `json:"warns"`
	// Again is when it has to be judged again, after everything was made; empty for never.
	Again string `json:"again"`
}

var (
	made           = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	cases, correct atomic.Int32
)

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Printf("READY cases=%d correct=%d\n", cases.Load(), correct.Load())
	os.Exit(code)
}

func TestReady(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no cases (error %v)", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var list []readyCase
		if err := yaml.UnmarshalStrict(text, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, one := range list {
			assert.False(t, seen[one.Case], "there are two cases %q", one.Case)
			seen[one.Case] = true
			one.run(t)
		}
	}
}

// The conditions of testdata/routes are those that real controllers write; each file says which, and where they were read.
func TestRoutesOfRealControllers(t *testing.T) {
	files, err := filepath.Glob("testdata/routes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no recordings (error %v)", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		route, expected, _ := strings.Cut(string(text), "\n---\n")
		var want struct {
			Verdict string   `json:"verdict"`
			Words   []string `json:"words"`
		}
		if err := yaml.UnmarshalStrict([]byte(expected), &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		one := readyCase{Case: filepath.Base(file), Says: want.Words, Ready: want.Verdict == "Ready", Stalled: want.Verdict == "Stuck"}
		one.Reason = v1.ReasonNoWorkload
		if one.Stalled {
			one.Reason = v1.ReasonRouteNotAccepted
		}
		var object map[string]any
		if err := yaml.Unmarshal([]byte(route), &object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		one.Live = []map[string]any{object}
		one.run(t)
	}
}

func (c *readyCase) run(t *testing.T) {
	t.Run(c.Case, func(t *testing.T) {
		cases.Add(1)
		c.test(t)
		if !t.Failed() {
			correct.Add(1)
		}
	})
}

func (c *readyCase) test(t *testing.T) {
	in := c.input(t)
	out, again := status.Summarize(in)
	ready := meta.FindStatusCondition(out.Conditions, v1.ConditionReady)
	stalled := meta.IsStatusConditionTrue(out.Conditions, v1.ConditionStalled)
	if got := ready.Status == metav1.ConditionTrue; got != c.Ready || stalled != c.Stalled || ready.Reason != c.Reason {
		t.Errorf("got Ready %s, Stalled %t, %s: %s", ready.Status, stalled, ready.Reason, ready.Message)
	}
	for _, words := range c.Says {
		assert.Contains(t, ready.Message, words, "the message lacks %q: %s", words, ready.Message)
	}
	warns := ""
	for _, problem := range out.Problems {
		assert.NotEmpty(t, problem.Hint, "%s has no hint", problem.Reason)
		if problem.Type == v1.ProblemWarning {
			warns = problem.Reason
		} else if !stalled && c.Ready {
			t.Errorf("it is ready and has the error %s: %s", problem.Reason, problem.Message)
		}
	}
	assert.EqualValues(t, c.Warns, warns, "it warns of %q, want %q", warns, c.Warns)
	if c.Again == "" != again.IsZero() || c.Again != "" && !made.Add(duration(t, c.Again)).Equal(again) {
		t.Errorf("it is judged again at %v, want %q after it was made", again, c.Again)
	}
	assert.Len(t, out.Resources, len(in.Rendered), "%d objects are listed, want %d", len(out.Resources), len(in.Rendered))
	c.agree(t, in.Resource, out)
}

// agree compares what kubectl, kstatus, which Flux uses, and Argo CD make of a status.
func (c *readyCase) agree(t *testing.T, resource *unstructured.Unstructured, out *v1.AppServiceStatus) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(out)
	require.NoError(t, err)
	resource = resource.DeepCopy()
	resource.Object["status"] = content
	wantStatus, wantHealth := kstatus.InProgressStatus, "Progressing"
	switch {
	case c.Ready:
		wantStatus, wantHealth = kstatus.CurrentStatus, "Healthy"
	case c.Stalled:
		wantStatus, wantHealth = kstatus.FailedStatus, "Degraded"
	}
	result, err := kstatus.Compute(resource)
	if err != nil || result.Status != wantStatus {
		t.Errorf("kstatus says %v (error %v), want %s", result, err, wantStatus)
	}
	if health, err := argo.Health(resource.Object); err != nil || health != wantHealth {
		t.Errorf("Argo CD says %s (error %v), want %s", health, err, wantHealth)
	}
}

// input is what a status is made of.
func (c *readyCase) input(t *testing.T) status.Input {
	resource := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": v1.Kind}}
	resource.SetNamespace("demo")
	resource.SetName("web")
	resource.SetGeneration(3)
	age := time.Hour
	if c.Age != "" {
		age = duration(t, c.Age)
	}
	in := status.Input{
		Resource: resource, Previous: &v1.AppServiceStatus{}, Digest: "digest", Rendered: []kube.Key{}, Now: metav1.NewTime(made.Add(age)),
		Snapshot: &livestate.Snapshot{
			Objects: map[kube.Key]client.Object{},
			Record:  &livestate.Record{Revision: 1, Status: "deployed", Digest: "digest", Chart: "1.0.0", Made: made},
		},
		Others: map[reference.Object][]string{}, Causes: map[kube.Key][]diagnose.Cause{},
	}
	for _, content := range c.Live {
		object := &unstructured.Unstructured{Object: normal(t, content)}
		object.SetNamespace("demo")
		object.SetCreationTimestamp(metav1.NewTime(made))
		typed := kube.Typed(object)
		key := kube.KeyOf(typed)
		in.Snapshot.Objects[key] = typed
		in.Rendered = append(in.Rendered, key)
	}
	for _, absent := range c.Absent {
		in.Rendered = append(in.Rendered, keyOf(absent))
	}
	for object, cause := range c.Causes {
		found := diagnose.Cause{Reason: cause[0], Source: "a container", Message: cause[1], Hint: reason.Of(cause[0]).Hint, Effect: diagnose.Lasting}
		in.Causes[keyOf(object)] = []diagnose.Cause{found}
	}
	for _, missing := range c.Missing {
		kind, name, _ := strings.Cut(missing, "/")
		object := reference.Object{Kind: kind, Name: name}
		ref := reference.Reference{Object: object, Need: reference.Advisory, By: "the Ingress"}
		if kind == reference.Secret {
			ref.By = reference.ByTLS
		}
		in.Missing = append(in.Missing, ref)
		in.Others[object] = c.Others
	}
	return in
}

func keyOf(text string) kube.Key {
	parts := strings.Split(text, "/")
	return kube.Key{GroupKind: schema.GroupKind{Group: parts[0], Kind: parts[1]}, Name: parts[2]}
}

// normal is content as JSON has it in the API: whole numbers are int64.
func normal(t *testing.T, content map[string]any) map[string]any {
	t.Helper()
	text, err := yaml.Marshal(content)
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, object.UnmarshalJSON(text))
	return object.Object
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	value, err := time.ParseDuration(text)
	require.NoError(t, err)
	return value
}
