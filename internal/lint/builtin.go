package lint

import (
	_ "embed" // what Go types do not say
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BuiltIn is what the Go types of Kubernetes do not say of built-in kinds. make generate reads it from the sources of k8s.io/api and of
// client-go.
type BuiltIn struct {
	// Enums are the values of types of texts that take few, by package and name of the type: those that Kubernetes marks with +enum.
	Enums map[string][]string `json:"enums"`
	// ClusterScoped are the kinds whose objects live outside of namespaces, as in rbac.authorization.k8s.io/v1/ClusterRole.
	ClusterScoped []string `json:"clusterScoped"`
}

//go:embed builtin.json
var builtInText []byte

var builtIn = sync.OnceValue(func() BuiltIn {
	var read BuiltIn
	if err := json.Unmarshal(builtInText, &read); err != nil {
		panic(err) // it is part of the program
	}
	return read
})

// allowed is a typed.Allowed.
func allowed(t reflect.Type) []string { return builtIn().Enums[t.PkgPath()+"."+t.Name()] }

func outsideNamespaces(kind schema.GroupVersionKind) bool {
	version, name := kind.ToAPIVersionAndKind()
	return slices.Contains(builtIn().ClusterScoped, version+"/"+name)
}
