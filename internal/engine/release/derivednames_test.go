package release

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestNamesThatOthersUseFollowFromObjects(t *testing.T) {
	object := func(text string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		assert.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
		return object
	}
	set := object(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]}}`)
	issued := object(`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, annotations: {cert-manager.io/issuer: a}},
	spec: {tls: [{secretName: web-tls}, {hosts: [b]}]}}`)
	bought := object(`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {tls: [{secretName: bought}]}}`)
	listeners := object(`{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: web, annotations: {cert-manager.io/cluster-issuer: a}},
	spec: {listeners: [{name: a, tls: {certificateRefs: [{name: web-route-tls}]}}, {name: b, tls: {certificateRefs: [{name: web-route-tls}]}}]}}`)
	claim := object(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}}`)
	names := derivedBy([]*unstructured.Unstructured{set, issued, bought, listeners, claim})
	assert.Equal(t, derived{claims: []string{"web"}, prefixes: []string{"data-web-"}, secrets: []string{"web-tls", "web-route-tls"}}, names)
	for name, want := range map[string]bool{"web": true, "data-web-0": true, "data-web-12": true, "data-web-": false, "data-web-a": false,
		"data-web--1": false, "data-web-0-0": false, "other": false} {
		assert.Equal(t, want, names.claimed(name), name)
	}
	assert.True(t, names.without(names).none())
	recorded := derivedBy([]*unstructured.Unstructured{set})
	assert.Equal(t, derived{claims: []string{"web"}, prefixes: []string{}, secrets: []string{"web-tls"}}, derivedBy([]*unstructured.Unstructured{set, issued, claim}).without(recorded))
}

func TestOnlyEntriesOfTLSNameCertificates(t *testing.T) {
	resource := map[string]any{"spec": map[string]any{
		"envs":    []any{map[string]any{"name": "A", "value": "web-tls"}},
		"ingress": map[string]any{"annotations": map[string]any{"secretName": "web-tls"}, "tls": []any{map[string]any{"secretName": "bought"}, map[string]any{}}},
	}}
	assert.Equal(t, []string{"bought"}, tlsSecrets(resource, "spec", "ingress", "tls"))
	assert.Empty(t, tlsSecrets(map[string]any{}, "spec", "ingress", "tls"))
}

// The operator before this one had Helm write its records.
func TestARecordThatHelmWroteNamesItsClaims(t *testing.T) {
	manifest := "---\n# Source: appservice/templates/persistentvolumeclaim.yaml\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: web\n" +
		"---\n# Source: appservice/templates/empty.yaml\n---\n# Source: x\n{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":\"db\"},\"spec\":{\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"}}]}}\n"
	objects, err := objectsOf(manifest)
	require.NoError(t, err)
	assert.Equal(t, derived{claims: []string{"web"}, prefixes: []string{"data-db-"}}, derivedBy(objects))
	_, err = objectsOf("a: [")
	assert.ErrorContains(t, err, "the manifest is not YAML")
}
