package preview

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/operator/status"
)

// Data that was kept goes with a release of a changed spec, which need not mention it.
func TestWhatBecomesOfDataThatWasKept(t *testing.T) {
	t.Parallel()
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": "a"}, "status": map[string]any{"resources": []any{
		map[string]any{"kind": "Deployment", "name": "web", "ready": true, "state": "Ready"},
		map[string]any{"kind": "Secret", "name": "made", "ready": true, "state": "Ready", "message": status.KeptData},
	}}}}
	assert.Equal(t, []string{"Secret made"}, retained(resource))
	goes := Consequence{Loses, "Secret made, which was kept, is deleted WITH ITS DATA"}
	source := func(image string) *release.Source {
		return &release.Source{Spec: map[string]any{"image": image}}
	}
	before := Outcome{Objects: objects(t, aDeployment), Retained: retained(resource), Source: source("a")}
	other := objects(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n---\n"+aDeployment)
	again := objects(t, "{apiVersion: v1, kind: Secret, metadata: {name: made}}\n---\n"+aDeployment)
	for name, test := range map[string]struct {
		after Outcome
		goes  bool
	}{
		"another spec":             {Outcome{Objects: other, Source: source("b")}, true},
		"a spec that is not known": {Outcome{Objects: other}, true},
		"the same spec":            {Outcome{Objects: other, Source: source("a")}, false},
		"nothing is released":      {Outcome{Objects: before.Objects, Source: source("b")}, false},
		"it is rendered again":     {Outcome{Objects: again, Source: source("b")}, false},
	} {
		d := DiffOf("AppService shop/web", before, test.after)
		if test.goes {
			assert.Contains(t, d.Consequences, goes, name)
		} else {
			assert.NotContains(t, d.Consequences, goes, name)
		}
	}
}
