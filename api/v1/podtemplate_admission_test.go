package v1_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheEdgesOfPodTemplates(t *testing.T) {
	labels := func(count int, key, value string) string {
		entries := make([]string, 0, count)
		for i := range count {
			entries = append(entries, fmt.Sprintf("%s%d: %s", key, i, value))
		}
		return "{metadata: {labels: {" + strings.Join(entries, ", ") + "}}}"
	}
	tests := map[string]struct {
		accepted, refused string
		field             string // what the refusal names
	}{
		"number of labels":             {labels(64, "a", "b"), labels(65, "a", "b"), "spec.podTemplate.metadata.labels"},
		"length of a label":            {labels(1, "a", strings.Repeat("b", 63)), labels(1, "a", strings.Repeat("b", 64)), "spec.podTemplate.metadata.labels.a0"},
		"label of the selector":        {"{metadata: {labels: {app.kubernetes.io/component: a}}}", "{metadata: {labels: {app.kubernetes.io/instance: a}}}", "app.kubernetes.io/instance is reserved"},
		"label of the operator's":      {"{metadata: {labels: {example.com/a: b}}}", "{metadata: {labels: {app.example.com/a: b}}}", "spec.podTemplate.metadata.labels: key "},
		"annotation of Helm's":         {"{metadata: {annotations: {helm.sh: b}}}", "{metadata: {annotations: {helm.sh/a: b}}}", "spec.podTemplate.metadata.annotations must not have"},
		"a spec that is not a map":     {"{spec: {any: [thing, null, {$patch: delete}]}}", "{spec: [a]}", "spec.podTemplate.spec"},
		"a null in what is free":       {"{spec: {nodeSelector: {a: null}}}", "{spec: null, metadata: [a]}", "spec.podTemplate.metadata"},
		"a label that is not a string": {"{metadata: {labels: {a: '1'}}}", "{metadata: {labels: {a: 1}}}", "spec.podTemplate.metadata.labels.a"},
		"a patch that is not a map":    {"{}", "none", "spec.podTemplate"},
		"a length of an annotation":    {"{metadata: {annotations: {a: " + strings.Repeat("b", 16384) + "}}}", "{metadata: {annotations: {a: " + strings.Repeat("b", 16385) + "}}}", "spec.podTemplate.metadata.annotations.a"},
		"an annotation of the stamp":   {"{metadata: {annotations: {app.example.org/a: b}}}", "{metadata: {annotations: {app.example.com/rendered: b}}}", "spec.podTemplate.metadata.annotations must not have"},
	}
	a := newAdmission(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := func(patch string) string { return "{image: a, podTemplate: " + patch + "}" }
			stored, dropped, err := a.admit(t, named(t, "web", spec(test.accepted)))
			if err != nil || len(dropped) > 0 {
				t.Errorf("%.200s: dropped fields %v, error %v", test.accepted, dropped, err)
			}
			want := named(t, "web", spec(test.accepted)).Object["spec"].(map[string]any)["podTemplate"]
			if got := stored.Object["spec"].(map[string]any)["podTemplate"]; !reflect.DeepEqual(got, want) {
				t.Errorf("got %v stored, want %v", got, want)
			}
			if _, _, err := a.admit(t, named(t, "web", spec(test.refused))); err == nil || !strings.Contains(err.Error(), test.field) {
				t.Errorf("%.200s: got error %v, want %q in it", test.refused, err, test.field)
			}
		})
	}
	stored, _, err := a.admit(t, named(t, "web", "{image: a, podTemplate: {metadata: {labels: {a: null}}}}"))
	require.NoError(t, err)
	if got, want := stored.Object["spec"].(map[string]any)["podTemplate"], map[string]any{"metadata": map[string]any{"labels": map[string]any{}}}; !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %v stored of a label that is null, want %v", got, want)
	}
	_, dropped, err := a.admit(t, named(t, "web", "{image: a, podTemplate: {metadata: {name: b, finalizers: [c]}, kind: d}}"))
	if want := []string{"spec.podTemplate.kind", "spec.podTemplate.metadata.finalizers", "spec.podTemplate.metadata.name"}; err != nil || !reflect.DeepEqual(dropped, want) {
		t.Errorf("dropped %v, error %v, want %v dropped", dropped, err, want)
	}
}
