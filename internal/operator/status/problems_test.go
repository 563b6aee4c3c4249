package status

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

func TestASizeThatAutoscalingIgnoresIsTold(t *testing.T) {
	told := func(message string) []v1.Problem {
		return []v1.Problem{{
			Type: v1.ProblemWarning, Source: "spec.size", Reason: v1.ReasonSizeIgnored, Message: message,
			Hint: "set spec.autoscaling.minReplicas or maxReplicas instead, or remove spec.autoscaling",
		}}
	}
	const effect = "has no effect while spec.autoscaling decides on the number of replicas; autoscaling started with "
	cases := map[string]struct {
		initial, started string
		want             []v1.Problem
	}{
		"no autoscaling":                        {"", "", nil},
		"no autoscaling any more":               {"", "2", nil},
		"the size that it started with":         {"2", "2", nil},
		"the size 1 of a new Deployment":        {"1", "", nil},
		"a size of 0 that it started with":      {"0", "0", nil},
		"another size":                          {"5", "2", told("spec.size 5 " + effect + "2")},
		"a size of 0 that came later":           {"0", "2", told("spec.size 0 " + effect + "2")},
		"another size after 1 that is not said": {"5", "", told("spec.size 5 " + effect + "1")},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			d := deployment(counts{2, 2, 2, 2})
			d.Annotations = map[string]string{}
			if test.initial != "" {
				d.Annotations[v1.AnnotationInitialReplicas] = test.initial
			}
			if test.started != "" {
				d.Annotations[v1.AnnotationStartedWith] = test.started
			}
			out := summarize(state{workload: d}.input(t))
			assert.Equal(t, test.want, out.Problems)
		})
	}
}

// The cause for which the running release is not repaired is listed once, if Ready says the same.
func TestACauseIsListedOnce(t *testing.T) {
	lost := &Problem{Reason: v1.ReasonGeneratedSecretLost, Message: "it is gone", Blocked: true}
	other := &Problem{Reason: v1.ReasonRenderFailed, Message: "no", Blocked: true}
	for _, test := range []struct {
		problem *Problem
		want    int
	}{{lost, 1}, {other, 2}, {nil, 1}} {
		in := state{workload: deployment(counts{1, 1, 1, 1}), problem: test.problem}.input(t)
		in.Decayed = lost
		assert.Len(t, summarize(in).Problems, test.want)
	}
}

func TestNoDeploymentIgnoresNoSize(t *testing.T) {
	if out := summarize(state{}.input(t)); len(out.Problems) != 0 {
		t.Errorf("got %+v", out.Problems)
	}
}

func TestTheCausesAtOtherWorkloadsAreNamed(t *testing.T) {
	in := state{workload: deployment(counts{1, 1, 1, 1}), previous: v1.PhaseRunning}.input(t)
	key := func(group, kind, name string) kube.Key {
		return kube.Key{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name}
	}
	in.Causes = map[kube.Key][]diagnose.Cause{
		deploymentKey("web"):             {{Reason: v1.ReasonIngressClassMissing, Source: "Ingress", Message: "no class"}},
		deploymentKey("worker"):          {{Reason: v1.ReasonUnschedulable, Source: "scheduler", Message: "no node", Effect: diagnose.Passing}},
		key("apps", "StatefulSet", "db"): {{Reason: v1.ReasonImageNotFound, Source: `container "app"`, Message: "no image", Effect: diagnose.Lasting}},
		key("batch", "Job", "migrate"):   {{Reason: v1.ReasonImageNotFound, Source: "Job migrate", Message: "Job migrate failed", Effect: diagnose.Lasting}},
	}
	object := func(kind, api, name string) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": api, "kind": kind, "metadata": map[string]any{"name": name}}}
	}
	worker := deployment(counts{1, 1, 1, 1})
	worker.Name = "worker"
	in.Snapshot = snapshot(t, deployment(counts{1, 1, 1, 1}), worker, object("StatefulSet", "apps/v1", "db"), object("Job", "batch/v1", "migrate"))
	in.Rendered = slices.SortedFunc(maps.Keys(in.Snapshot.Objects), kube.Key.Compare)
	var got []string
	for _, problem := range summarize(in).Problems {
		got = append(got, fmt.Sprint(problem.Type, " ", problem.Message))
	}
	want := []string{"Error Job migrate failed", "Error StatefulSet db: no image", "Warning no class", "Warning Deployment worker: no node"}
	assert.Equal(t, want, got)
}

func TestTheHintOfAnErrorGoesBeforeThatOfItsReason(t *testing.T) {
	for hint, want := range map[string]string{"": "change the fields named in the message", "tell the maintainers": "tell the maintainers"} {
		in := state{}.input(t)
		in.Problem = &Problem{Reason: v1.ReasonRenderFailed, Message: "x", Hint: hint, Blocked: true}
		if got := summarize(in).Problems; len(got) != 1 || got[0].Hint != want {
			t.Errorf("got %+v, want one with the hint %q", got, want)
		}
	}
}

func TestWhoeverWaitsSaysForWhat(t *testing.T) {
	for name, test := range map[string]struct {
		counts counts
		ready  string
	}{
		"as desired":  {counts{2, 2, 2, 2}, "2 of 2 replicas are up to date and available; a new chart waits"},
		"on its way":  {counts{2, 2, 2, 1}, "1 of 2 replicas are available"},
		"not waiting": {counts{2, 2, 2, 2}, "2 of 2 replicas are up to date and available"},
	} {
		t.Run(name, func(t *testing.T) {
			in := state{workload: deployment(test.counts)}.input(t)
			want := 0
			if name != "not waiting" {
				in.Waits, want = Waits{Message: "a new chart waits: 2 others before it", Short: "a new chart waits"}, 1
			}
			out := summarize(in)
			assert.Equal(t, test.ready, meta.FindStatusCondition(out.Conditions, v1.ConditionReady).Message)
			if len(out.Problems) != want || want == 1 && !strings.HasSuffix(out.Problems[0].Message, ": 2 others before it") {
				t.Errorf("got problems %+v", out.Problems)
			}
		})
	}
}

func TestFieldsThatTheOperatorDoesNotKnowAreTold(t *testing.T) {
	for name, test := range map[string]struct {
		unknown []string
		want    []string
	}{
		"none": {nil, nil},
		"one":  {[]string{"spec.backup"}, []string{"Warning FieldUnknown spec.backup: spec.backup is ignored: the installed CRD is newer than this operator version"}},
		"more than are listed": {
			[]string{"spec.a", "spec.b", "spec.c", "spec.d", "spec.e", "spec.f", "spec.g"},
			[]string{"spec.a", "spec.b", "spec.c", "spec.d", "spec.e is ignored: the installed CRD is newer than this operator version (and 2 more)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := state{workload: deployment(counts{2, 2, 2, 2})}.input(t)
			before := summarize(in)
			in.Unknown = test.unknown
			out := summarize(in)
			if !reflect.DeepEqual(out.Conditions, before.Conditions) {
				t.Errorf("the conditions are others: %+v, want %+v", out.Conditions, before.Conditions)
			}
			if len(out.Problems) != len(test.want) {
				t.Fatalf("got %+v, want %d", out.Problems, len(test.want))
			}
			for i, problem := range out.Problems {
				got := fmt.Sprintf("%s %s %s: %s", problem.Type, problem.Reason, problem.Source, problem.Message)
				if !strings.Contains(got, test.want[i]) || !strings.Contains(problem.Hint, "upgrade the operator") {
					t.Errorf("got %s (%s), want %s", got, problem.Hint, test.want[i])
				}
			}
		})
	}
}
