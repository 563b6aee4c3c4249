package status

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/argo"
)

// verdicts are the words of those who read a status for others.
type verdicts struct {
	waited  bool // whether kubectl wait --for=condition=Ready is over
	kstatus kstatus.Status
	argo    string
}

// Everybody who looks at an AppService comes to the same end.
func TestKubectlAndKstatusAndArgoAgree(t *testing.T) {
	for name, state := range states() {
		t.Run(name, func(t *testing.T) {
			want := verdicts{false, kstatus.InProgressStatus, "Progressing"}
			switch {
			case state.ready:
				want = verdicts{true, kstatus.CurrentStatus, "Healthy"}
			case state.stalled:
				want = verdicts{false, kstatus.FailedStatus, "Degraded"}
			}
			in := state.input(t)
			agree(t, in.Resource, summarize(in), want)
		})
	}
	running := states()["everything as desired"].input(t)
	t.Run("paused", func(t *testing.T) {
		in := running
		in.Paused = true
		agree(t, in.Resource, summarize(in), verdicts{false, kstatus.InProgressStatus, "Suspended"})
	})
	t.Run("the spec has just changed", func(t *testing.T) {
		status, changed := summarize(running), resource()
		changed.SetGeneration(changed.GetGeneration() + 1)
		agree(t, changed, status, verdicts{false, kstatus.InProgressStatus, "Progressing"})
	})
	t.Run("nobody has looked at it yet", func(t *testing.T) {
		got := healthOf(t, resource())
		if got != "Progressing" {
			t.Errorf("Argo CD says %s", got)
		}
	})
}

func agree(t *testing.T, resource *unstructured.Unstructured, status *v1.AppServiceStatus, want verdicts) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	require.NoError(t, err)
	resource = resource.DeepCopy()
	resource.Object["status"] = content
	result, err := kstatus.Compute(resource)
	require.NoError(t, err)
	// kubectl wait passes over conditions of an earlier generation.
	ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	waited := ready.Status == "True" && ready.ObservedGeneration >= resource.GetGeneration()
	assert.Equal(t, want, (verdicts{waited, result.Status, healthOf(t, resource)}))
}

func healthOf(t *testing.T, resource *unstructured.Unstructured) string {
	t.Helper()
	said, err := argo.Health(resource.Object)
	require.NoError(t, err)
	return said
}
