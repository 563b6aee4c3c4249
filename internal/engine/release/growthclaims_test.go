package release

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	content := map[string]any{}
	require.NoError(t, utiljson.Unmarshal(data, &content)) // numbers become int64, as in the cluster's objects
	object.Object = content
	return object
}

func TestAWorkloadTakesClaimsThatItDidNotHave(t *testing.T) {
	owner := parsed(t, `{apiVersion: app.example.com/v1, kind: AppService, metadata: {name: web, namespace: a, uid: mine}}`)
	const (
		own     = "labels: {app.example.com/owner-uid: mine}, annotations: {app.example.com/retained-for: web}"
		others  = "labels: {app.example.com/owner-uid: other}, annotations: {app.example.com/retained-for: db-web}"
		earlier = "annotations: {app.example.com/retained-for: web}"
	)
	for name, test := range map[string]struct {
		growing growing
		claim   string
		meta    string
		want    bool
	}{
		"it has none of its ordinal":                   {growing{then: ordinals{0, 1}}, "data-web-0", others, true},
		"it mounts it already":                         {growing{now: ordinals{0, 1}, then: ordinals{0, 2}}, "data-web-0", others, false},
		"it reaches it":                                {growing{now: ordinals{0, 1}, then: ordinals{0, 2}}, "data-web-1", others, true},
		"it does not reach it":                         {growing{now: ordinals{0, 1}, then: ordinals{0, 2}}, "data-web-2", others, false},
		"its ordinals begin later":                     {growing{then: ordinals{5, 2}}, "data-web-0", others, false},
		"its ordinals begin earlier than they did":     {growing{now: ordinals{5, 2}, then: ordinals{4, 2}}, "data-web-4", others, true},
		"it is its own":                                {growing{then: ordinals{0, 1}}, "data-web-0", own, false},
		"it has another prefix":                        {growing{then: ordinals{0, 1}}, "logs-web-0", others, false},
		"nobody marked it":                             {growing{then: ordinals{0, 1}, marked: true}, "data-web-0", "labels: {app: db}", true},
		"nobody marks those that it makes":             {growing{then: ordinals{0, 1}}, "data-web-0", "labels: {app: db}", false},
		"an earlier operator marked it":                {growing{then: ordinals{0, 1}, marked: true}, "data-web-0", earlier, false},
		"its own, of a replica that is about to go":    {growing{then: ordinals{0, 1}, marked: true}, "data-web-0", own + ", ownerReferences: [{apiVersion: v1, kind: Pod, name: web-0, controller: true}]", false},
		"the StatefulSet of another is its controller": {growing{then: ordinals{0, 1}}, "data-web-0", others + ", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db-web, controller: true}]", true},
	} {
		t.Run(name, func(t *testing.T) {
			test.growing.prefixes = []string{"data-web-"}
			claim := parsed(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: "+test.claim+", "+test.meta+"}}")
			assert.Equal(t, test.want, test.growing.takes(owner, claim))
		})
	}
}

func TestHowManyReplicasAnAutoscalerChooses(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		most int64
	}{
		"a HorizontalPodAutoscaler":      {"maxReplicas: 3", 3},
		"a ScaledObject":                 {"maxReplicaCount: 4", 4},
		"a ScaledObject without a limit": {"minReplicaCount: 1", 100},
	} {
		target, most := scales(parsed(t, "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}, "+test.spec+"}}").Object)
		assert.Equal(t, "StatefulSet", target.GetKind(), name)
		assert.Equal(t, test.most, most, name)
	}
	target, _ := scales(parsed(t, "{spec: {replicas: 3}}").Object)
	assert.Nil(t, target)
}
