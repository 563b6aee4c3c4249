package lint

import (
	_ "embed" // for builtin.json
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BuiltIn holds facts about built-in kinds that their Go types lack. make generate extracts them from the sources of
// k8s.io/api and client-go.
type BuiltIn struct {
	// Enums are the values of the string types that Kubernetes marks with +enum, by package path and name of the type.
	Enums map[string][]string `json:"enums"`
	// ClusterScoped are the cluster-scoped kinds, as in rbac.authorization.k8s.io/v1/ClusterRole.
	ClusterScoped []string `json:"clusterScoped"`
}

//go:embed builtin.json
var builtInText []byte

var builtIn = sync.OnceValue(func() BuiltIn {
	var read BuiltIn
	if err := json.Unmarshal(builtInText, &read); err != nil {
		panic(err) // it is built in
	}
	return read
})

// allowed returns the values of an enum type; nil for other types. It is a typecheck.Allowed.
func allowed(t reflect.Type) []string { return builtIn().Enums[t.PkgPath()+"."+t.Name()] }

func outsideNamespaces(kind schema.GroupVersionKind) bool {
	version, name := kind.ToAPIVersionAndKind()
	return slices.Contains(builtIn().ClusterScoped, version+"/"+name)
}
