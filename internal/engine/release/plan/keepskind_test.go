package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestAWorkloadKeepsItsKind(t *testing.T) {
	t.Parallel()
	const keeps = "annotations: {app.example.com/keeps-kind: spec.statefulSet}, "
	of := func(kind, metadata string) []*unstructured.Unstructured {
		group := map[string]string{"Service": "v1"}[kind]
		if group == "" {
			group = "apps/v1"
		}
		return []*unstructured.Unstructured{object(t, "{apiVersion: "+group+", kind: "+kind+", metadata: {"+metadata+"}}")}
	}
	for name, test := range map[string]struct {
		created, deleted []*unstructured.Unstructured
		refused          string
	}{
		"a StatefulSet in the place of a Deployment": {of("StatefulSet", keeps+"name: web"), of("Deployment", "name: web"), `spec.statefulSet cannot be added or removed: Deployment "web" would have to become a StatefulSet, and its replicas would lose their names and what they stored`},
		"a Deployment in the place of a StatefulSet": {of("Deployment", "name: web"), of("StatefulSet", keeps+"name: web"), `spec.statefulSet cannot be added or removed: StatefulSet "web" would have to become a Deployment, and its replicas would lose their names and what they stored`},
		"a chart that says nothing":                  {of("StatefulSet", "name: web"), of("Deployment", "name: web"), ""},
		"another name":                               {of("StatefulSet", keeps+"name: web"), of("Deployment", "name: worker"), ""},
		"no workload":                                {of("StatefulSet", keeps+"name: web"), of("Service", "name: web"), ""},
		"nothing deleted":                            {of("StatefulSet", keeps+"name: web"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := KeepsKind(test.created, test.deleted)
			if test.refused == "" {
				require.Nil(t, err)
				return
			}
			require.EqualError(t, err, test.refused)
			assert.Equal(t, v1.ReasonImmutableChange, err.Reason())
			assert.Contains(t, err.Hint(), "set spec.statefulSet back")
		})
	}
}
