package hooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAnEarlierReleaseTakesThePresentSizes(t *testing.T) {
	sized := func(name, spec string) *unstructured.Unstructured {
		return parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: "+name+"}, spec: "+spec+"}")
	}
	for name, test := range map[string]struct {
		earlier, present *unstructured.Unstructured
		want             any
	}{
		"another size":                 {sized("web", "{replicas: 2}"), sized("web", "{replicas: 3}"), int64(3)},
		"an autoscaler at present":     {sized("web", "{replicas: 2}"), sized("web", "{}"), int64(2)},
		"an autoscaler of the earlier": {sized("web", "{}"), sized("web", "{replicas: 3}"), nil},
		"another workload":             {sized("web", "{replicas: 2}"), sized("api", "{replicas: 3}"), int64(2)},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Sizes([]*unstructured.Unstructured{test.present})(t.Context(), nil, []*unstructured.Unstructured{test.earlier}))
			got, _, err := unstructured.NestedFieldNoCopy(test.earlier.Object, "spec", "replicas")
			require.NoError(t, err)
			assert.EqualValues(t, test.want, got)
		})
	}
}
