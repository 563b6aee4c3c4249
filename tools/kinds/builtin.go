package kinds

import (
	"cmp"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// builtIn reports whether a kind is one of Kubernetes, and whether it is cluster-scoped: client-go's functions for those take no namespace.
func builtIn(kind schema.GroupVersionKind) (found, clusterScoped bool) {
	group, _, _ := strings.Cut(cmp.Or(kind.Group, "core"), ".")
	clients, known := reflect.TypeFor[kubernetes.Interface]().MethodByName(capital(group) + capital(kind.Version))
	if !known || kind.Group != "" && strings.Contains(kind.Group, ".") && !strings.HasSuffix(kind.Group, ".k8s.io") {
		return false, false
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	of := clients.Type.Out(0)
	for i := range of.NumMethod() {
		if method := of.Method(i); strings.ToLower(method.Name) == plural.Resource {
			return true, method.Type.NumIn() == 0
		}
	}
	return false, false
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
