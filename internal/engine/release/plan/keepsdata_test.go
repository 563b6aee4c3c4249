package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// A Secret with values that were generated and a claim are not deleted with a release that nobody asked for, and are
// no sign that another release was applied.
func TestObjectsThatHoldDataAreKept(t *testing.T) {
	there := map[kube.Key]client.Object{}
	for _, text := range []string{
		"{apiVersion: v1, kind: Secret, metadata: {name: made, annotations: {app.example.com/generate: KEY=24, app.example.com/rendered: one}}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: plain, annotations: {app.example.com/rendered: one}}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, annotations: {app.example.com/rendered: one}}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: retained, annotations: {app.example.com/retained-for: web}}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: config, annotations: {app.example.com/rendered: one}}}",
	} {
		live := object(t, text)
		there[kube.KeyOf(live)] = live
	}
	plan := Compare(nil, there)
	assert.Len(t, plan.Delete, 4)
	assert.True(t, plan.DeletesData())
	some := Compare(nil, there)
	some.KeepData(kube.Key{GroupKind: kube.SecretKind.GroupKind(), Name: "made"}, kube.Key{GroupKind: kube.SecretKind.GroupKind(), Name: "plain"})
	assert.Equal(t, "delete ConfigMap config; delete PersistentVolumeClaim data; delete Secret plain", some.String())
	plan.KeepData()
	assert.Equal(t, "delete ConfigMap config; delete Secret plain", plan.String())
	assert.False(t, plan.DeletesData())
	claim := object(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}}")
	assert.Equal(t, "[PersistentVolumeClaim data Secret made]", fmt.Sprint(KeptData(there)))
	assert.Equal(t, "[Secret made]", fmt.Sprint(KeptData(there, kube.KeyOf(claim))))

	returned, _ := CompareReturned(nil, there)
	assert.Equal(t, "delete ConfigMap config; delete Secret plain", returned.String())
	assert.True(t, superseded(nil, there))
	for _, name := range []string{"plain", "config"} {
		for key := range there {
			if key.Name == name {
				delete(there, key)
			}
		}
	}
	assert.False(t, superseded(nil, there))
}
