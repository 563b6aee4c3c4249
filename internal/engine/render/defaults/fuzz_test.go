package defaults

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// FuzzRead: whatever a namespace says in its ConfigMap, it is refused in one line, or sets what it may set and nothing else, each time alike.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "resources: {limits: {cpu: 1}}", "config: {logLevel: info}", "config: {databaseUrl: x}", "[a]", "a: b: c", "image: nginx", "? a\n: b",
		"tolerations: &a [{key: b}]\nresources: *a", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "resources: {}\nresources: {}", "<<: {image: a}", "resources.limits: {}", "config: null",
		"tolerations: !!binary eA==", "---\nresources: {}\n---\nimage: a", "%YAML 1.2\n---\nresources: {a: 0x1F, b: .inf, c: 2001-12-14}",
	} {
		f.Add("appservice.yaml", text)
	}
	f.Add("appservices.yaml", "resources: {}")
	f.Fuzz(func(t *testing.T, key, text string) {
		if len(validation.IsConfigMapKey(key)) > 0 {
			return // the API server takes no others
		}
		stripped, err := Strip(&corev1.ConfigMap{Data: map[string]string{key: text}})
		require.NoError(t, err)
		said := Of(stripped.(*corev1.ConfigMap), "AppService")
		first, err := said.Read("AppService", allowed)
		if err != nil {
			var refused *Error
			if !errors.As(err, &refused) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q", err)
			}
			return
		}
		if second, err := said.Read("AppService", allowed); err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("read twice, it is not the same: %v, %v, %v", first, second, err)
		}
		for name, value := range first.Values {
			nested, isMap := value.(map[string]any)
			if slices.Contains(allowed, name) {
				continue
			}
			if name != "config" || !isMap {
				t.Errorf("it sets %s", name)
			}
			for inner := range nested {
				if inner != "logLevel" {
					t.Errorf("it sets config.%s", inner)
				}
			}
		}
	})
}
