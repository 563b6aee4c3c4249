package postrender

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLabelsMarksWhatTheCachesHold(t *testing.T) {
	cases := map[string]struct{ in, want map[string]string }{
		"no labels":     {nil, map[string]string{"app.example.com/managed": "true"}},
		"other labels":  {map[string]string{"a": "b"}, map[string]string{"a": "b", "app.example.com/managed": "true"}},
		"another value": {map[string]string{"app.example.com/managed": "false"}, map[string]string{"app.example.com/managed": "true"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := parse(t, "{apiVersion: v1, kind: Service, metadata: {name: web}}")
			object.SetLabels(tc.in)
			assert.Equal(t, tc.want, run(t, object, Labels).GetLabels())
		})
	}
}

// A label of ours on pods would restart all of them; in a selector, which cannot change, it would break every upgrade.
func TestNoHookTouchesPodTemplatesAndSelectors(t *testing.T) {
	hooks := map[string]Hook{"Canonical": Canonical, "Ownership": Ownership, "Labels": Labels}
	for name, hook := range hooks {
		t.Run(name, func(t *testing.T) {
			before := parse(t, deployment)
			after := run(t, before, hook)
			for _, path := range [][]string{{"spec", "selector"}, {"spec", "template", "metadata"}} {
				want, _, _ := unstructured.NestedFieldNoCopy(before.Object, path...)
				got, _, _ := unstructured.NestedFieldNoCopy(after.Object, path...)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %v, want %v", strings.Join(path, "."), got, want)
				}
			}
		})
	}
	all := run(t, parse(t, deployment), Default()...)
	spec, err := json.Marshal(all.Object["spec"])
	require.NoError(t, err)
	for _, ours := range []string{"app.example.com/", "helm.sh/", "managed-by"} {
		if strings.Contains(string(spec), ours) {
			t.Errorf("the spec holds %s: %s", ours, spec)
		}
	}
}
