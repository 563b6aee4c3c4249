// Package argo runs the health check that is shipped for Argo CD as Argo CD does.
package argo

import (
	"fmt"
	"os"
	"path/filepath"

	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

// key is the entry of Argo CD's ConfigMap with the health check for AppServices.
const key = "resource.customizations.health.app.example.com_AppService"

// Health returns the status that the check of config/argocd assigns to a resource: Healthy, Progressing, Degraded or Suspended.
func Health(resource map[string]any) (string, error) {
	root, err := toolchain.Root()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "config/argocd/argocd-cm.yaml"))
	if err != nil {
		return "", err
	}
	var patch struct{ Data map[string]string }
	if err := yaml.Unmarshal(text, &patch); err != nil {
		return "", fmt.Errorf("cannot read the ConfigMap: %w", err)
	}
	if patch.Data[key] == "" {
		return "", fmt.Errorf("there is no %s", key)
	}
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", inLua(state, resource))
	if err := state.DoString(patch.Data[key]); err != nil {
		return "", fmt.Errorf("cannot run the check: %w", err)
	}
	said, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", fmt.Errorf("the check returns no table but %s", state.Get(-1))
	}
	return lua.LVAsString(said.RawGetString("status")), nil
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
