package kinds

import (
	"encoding/json"
	"slices"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/example/appservice-operator/internal/plugin/lint"
)

// TypesFile is where internal/plugin/lint has what the Go types do not say of built-in kinds.
const TypesFile = "internal/plugin/lint/builtin.json"

// Types returns the text of that file.
func Types() ([]byte, error) {
	found, err := readEnums()
	if err != nil {
		return nil, err
	}
	out := lint.BuiltIn{Enums: found}
	for kind := range scheme.Scheme.AllKnownTypes() {
		if known, clusterScoped := builtIn(kind); known && clusterScoped {
			version, name := kind.ToAPIVersionAndKind()
			out.ClusterScoped = append(out.ClusterScoped, version+"/"+name)
		}
	}
	slices.Sort(out.ClusterScoped)
	text, err := json.MarshalIndent(out, "", " ")
	return append(text, '\n'), err
}
