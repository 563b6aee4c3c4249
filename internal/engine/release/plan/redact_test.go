package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWhichValuesAreShown(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	for field, want := range map[string]bool{
		"spec.template.spec.containers[app].image":                    true,
		"spec.jobTemplate.spec.template.spec.initContainers[a].image": true,
		"spec.podTemplate.spec.containers[app].image":                 true,
		"spec.sidecars[a].image":                                      true,
		"spec.image":                                                  true,
		"values.image":                                                true,
		"spec.template.spec.containers[app].resources.limits.cpu":     true,
		"spec.resources.requests.storage":                             true,
		"spec.ports[80].targetPort":                                   true,
		"spec.rules[0].host":                                          true,
		"spec.ingress.hosts[0].host":                                  true,
		"spec.hostnames[0]":                                           true,
		"spec.ingressClassName":                                       true,
		"spec.maxUnavailable":                                         true,
		"spec.strategy.rollingUpdate.maxSurge":                        true,
		"spec.type":                                                   true,
		"spec.selector.app":                                           true,
		"metadata.labels.app.example.com/managed":                     true,
		"spec.template.metadata.labels.a":                             true,
		"metadata.annotations.a":                                      false,
		"metadata.annotations.type":                                   false,
		"spec.template.metadata.annotations.vault.example.com/token":  false,
		"spec.podAnnotations.image":                                   false,
		"spec.ingress.annotations.host":                               false,
		"spec.triggers[0].metadata.host":                              false,
		"spec.triggers[0].metadata.labels.a":                          false,
		"spec.autoscaling.triggers[0].metadata.type":                  false,
		"spec.rules[0].matches[0].headers[0].value":                   false,
		"spec.rules[0].filters[0].requestHeaderModifier.set[Authorization].value":       false,
		"spec.template.spec.volumes[v].csi.volumeAttributes.type":                       false,
		"spec.template.spec.hostAliases[10.0.0.1].hostnames[0]":                         false,
		"spec.template.spec.containers[app].env[image].value":                           false,
		"spec.template.spec.containers[app].args[0]":                                    false,
		"spec.template.spec.containers[app].livenessProbe.httpGet.path":                 false,
		"spec.template.spec.containers[app].livenessProbe.httpGet.httpHeaders[A].value": false,
		"spec.config.databaseUrl":                                                       false,
		"spec.config.environment.image":                                                 false,
		"spec.envs[image].value":                                                        false,
		"spec.url":                                                                      false,
		"data.image":                                                                    false,
	} {
		old, rendered := redacted(object, field, "before", "after")
		assert.Equal(t, want, old == "before" && rendered == "after", field)
		assert.Equal(t, want, old+rendered != "", field)
	}
	for name, of := range map[string][2]any{"numbers": {int64(1), 2.5}, "truths": {true, nil}, "objects": {map[string]any{}, []any{}}} {
		old, _ := redacted(object, "spec.whatever", of[0], of[1])
		assert.NotEmpty(t, old, name)
	}
	old, rendered := redacted(object, "spec.whatever", nil, "after")
	assert.Empty(t, old+rendered, "a text that is new")
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	old, rendered = redacted(secret, "immutable", false, true)
	assert.Empty(t, old+rendered, "of a Secret")
}
