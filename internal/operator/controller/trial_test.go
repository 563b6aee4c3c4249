package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/rollout"
)

func TestWhatIsTriedAgain(t *testing.T) {
	of := func(generation int64, image string, size int64, request, chart string) *scope {
		resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image, "size": size}}}
		resource.SetGeneration(generation)
		resource.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: request})
		return &scope{resource: resource, basis: rollout.Basis{Chart: rollout.Chart{Identity: render.Identity{Digest: chart}}}}
	}
	failed := of(3, "web:1", 2, "", "one")
	alone, whole := failed.trial(false).String(), failed.trial(true).String()
	assert.LessOrEqual(t, len(whole), 63)
	assert.Equal(t, failed.trial(true), parseTrial(whole))
	assert.Equal(t, failed.trial(false), parseTrial(alone))
	former := failed.trial(true)
	former.spec = "" // as an earlier operator wrote it
	for name, test := range map[string]struct {
		now   *scope
		tried string
		want  bool
	}{
		"the same":                                {failed, alone, true},
		"the same, with the chart":                {failed, whole, true},
		"as an earlier operator said":             {failed, former.String(), true},
		"another size":                            {of(4, "web:1", 5, "", "one"), whole, true},
		"another size, after an earlier operator": {of(4, "web:1", 5, "", "one"), former.String(), false},
		"another default of a field":              {of(3, "web:1-default", 2, "", "one"), whole, true},
		"another image":                           {of(4, "web:2", 2, "", "one"), whole, false},
		"a request":                               {of(3, "web:1", 2, "now", "one"), whole, false},
		"a request and another size":              {of(4, "web:1", 5, "now", "one"), alone, false},
		"another chart, which was not at fault":   {of(3, "web:1", 2, "", "two"), alone, true},
		"another chart, where one was":            {of(3, "web:1", 2, "", "two"), whole, false},
		"another size and chart, where one was":   {of(4, "web:1", 5, "", "two"), whole, false},
		"nothing that an earlier operator noted":  {failed, "", false},
	} {
		assert.Equal(t, test.want, test.now.triesAgain(parseTrial(test.tried)), name)
	}
}
