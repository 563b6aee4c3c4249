package health

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// The conditions are those that KEDA's controller writes.
func TestScaledObject(t *testing.T) {
	const (
		initial = `[{type: Ready, status: Unknown}, {type: Active, status: Unknown}, {type: Fallback, status: Unknown}, {type: Paused, status: Unknown}]`
		scales  = `[{type: Ready, status: "True", reason: ScaledObjectReady, message: ScaledObject is defined correctly and is ready for scaling}, `
		refused = `[{type: Ready, status: "False", reason: ScaledObjectCheckFailed, message: ScaledObject doesn't have correct triggers specification}, {type: Active, status: Unknown, reason: UnknownState}]`
		partial = `[{type: Ready, status: Unknown, reason: PartialTriggerError, message: Some triggers defined in ScaledObject are not working correctly}]`
	)
	made := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	soon, late := made.Add(time.Second), made.Add(metricsPatience)
	none := State{Reason: v1.ReasonAutoscalingFailed, Message: "KEDA has not processed the ScaledObject"}
	failed := State{Reason: v1.ReasonAutoscalingFailed, Message: "autoscaling is inactive: KEDA reports: ScaledObject doesn't have correct triggers specification"}
	waiting := func(s State) State { s.Verdict, s.Until = Waiting, late; return s }
	stuck := func(s State) State { s.Verdict = Stuck; return s }
	cases := map[string]struct {
		conditions string
		now        time.Time
		want       State
	}{
		"nobody has looked":               {`[]`, soon, waiting(none)},
		"nobody looks":                    {`[]`, late, stuck(none)},
		"KEDA has begun":                  {initial, soon, waiting(none)},
		"KEDA does not get on":            {initial, late, stuck(none)},
		"it scales":                       {scales + `{type: Active, status: "True"}, {type: Paused, status: Unknown}]`, late, State{}},
		"it scales, and nothing is to do": {scales + `{type: Active, status: "False", reason: ScalerNotActive}]`, soon, State{}},
		"it is paused":                    {scales + `{type: Paused, status: "True", reason: ScaledObjectPaused}]`, late, State{}},
		"KEDA refuses it, maybe before there are pods": {refused, soon, waiting(failed)},
		"KEDA refuses it": {refused, late, stuck(failed)},
		"some triggers fail": {partial, late, State{
			Verdict: Warned, Reason: v1.ReasonAutoscalingFailed, Message: "KEDA reports: Some triggers defined in ScaledObject are not working correctly",
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var conditions []any
			require.NoError(t, yaml.UnmarshalStrict([]byte(test.conditions), &conditions))
			object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": conditions}}}
			object.SetAPIVersion("keda.sh/v1alpha1")
			object.SetKind("ScaledObject")
			object.SetCreationTimestamp(metav1.NewTime(made))
			got := Of(object, Facts{Now: test.now})
			got.Until = got.Until.UTC()
			assert.Equal(t, test.want, got)
		})
	}
}
