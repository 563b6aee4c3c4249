package status

import (
	"os"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// healthKey is the entry of Argo CD's ConfigMap that tells how an AppService stands.
const healthKey = "resource.customizations.health.app.example.com_AppService"

// verdicts are the words of those who read a status for others.
type verdicts struct {
	waited  bool // whether kubectl wait --for=condition=Ready is over
	kstatus kstatus.Status
	argo    string
}

// Everybody who looks at an AppService comes to the same end.
func TestKubectlAndKstatusAndArgoAgree(t *testing.T) {
	health := healthCheck(t)
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
			agree(t, health, in.Resource, summarize(in), want)
		})
	}
	running := states()["everything as desired"].input(t)
	t.Run("paused", func(t *testing.T) {
		in := running
		in.Paused = true
		agree(t, health, in.Resource, summarize(in), verdicts{false, kstatus.InProgressStatus, "Suspended"})
	})
	t.Run("the spec has just changed", func(t *testing.T) {
		status, changed := summarize(running), resource()
		changed.SetGeneration(changed.GetGeneration() + 1)
		agree(t, health, changed, status, verdicts{false, kstatus.InProgressStatus, "Progressing"})
	})
	t.Run("nobody has looked at it yet", func(t *testing.T) {
		got := healthOf(t, health, resource())
		if got != "Progressing" {
			t.Errorf("Argo CD says %s", got)
		}
	})
}

func agree(t *testing.T, health string, resource *unstructured.Unstructured, status *v1.AppServiceStatus, want verdicts) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		t.Fatal(err)
	}
	resource = resource.DeepCopy()
	resource.Object["status"] = content
	result, err := kstatus.Compute(resource)
	if err != nil {
		t.Fatal(err)
	}
	// kubectl wait passes over conditions of an earlier generation.
	ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	waited := ready.Status == "True" && ready.ObservedGeneration >= resource.GetGeneration()
	if got := (verdicts{waited, result.Status, healthOf(t, health, resource)}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// healthCheck reads the script that is shipped for Argo CD.
func healthCheck(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../config/argocd/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var patch struct{ Data map[string]string }
	if err := yaml.UnmarshalStrict(data, &patch); err != nil {
		t.Fatal(err)
	}
	if patch.Data[healthKey] == "" {
		t.Fatalf("there is no %s", healthKey)
	}
	return patch.Data[healthKey]
}

// healthOf runs the script as Argo CD does: the resource is obj.
func healthOf(t *testing.T, health string, resource *unstructured.Unstructured) string {
	t.Helper()
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", inLua(state, resource.Object))
	if err := state.DoString(health); err != nil {
		t.Fatal(err)
	}
	said, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns no table but %s", state.Get(-1))
	}
	return lua.LVAsString(said.RawGetString("status"))
}

func inLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, inLua(state, item))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(inLua(state, item))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	}
	return lua.LNil
}
