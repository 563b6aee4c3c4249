package postrender

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

func TestAnEarlierReleaseTakesThePresentSizesOfClaims(t *testing.T) {
	claim := func(size string) *unstructured.Unstructured {
		return parse(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {resources: {requests: {storage: "+size+"}}}}")
	}
	replicated := func(name, size string) *unstructured.Unstructured {
		return parse(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {volumeClaimTemplates: "+
			"[{metadata: {name: "+name+"}, spec: {resources: {requests: {storage: "+size+"}}}}]}}")
	}
	for name, test := range map[string]struct{ earlier, present, want *unstructured.Unstructured }{
		"a claim":                  {claim("1Gi"), claim("2Gi"), claim("2Gi")},
		"a claim template":         {replicated("data", "1Gi"), replicated("data", "2Gi"), replicated("data", "2Gi")},
		"one of another name":      {replicated("data", "1Gi"), replicated("logs", "2Gi"), replicated("data", "1Gi")},
		"no claim at present":      {claim("1Gi"), replicated("data", "2Gi"), claim("1Gi")},
		"no templates at present":  {replicated("data", "1Gi"), parse(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {}}"), replicated("data", "1Gi")},
		"a request without a size": {parse(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {}}"), claim("2Gi"), parse(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {}}")},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, ClaimSizes([]*unstructured.Unstructured{test.present})(t.Context(), nil, []*unstructured.Unstructured{test.earlier}))
			assert.Equal(t, test.want, test.earlier)
		})
	}
}
