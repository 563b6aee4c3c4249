package postrender

import (
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func stampOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[AnnotationStamp]
}

func TestStampChangesWithTheContentOnly(t *testing.T) {
	first := stampOf(run(t, parse(t, deployment), Stamp))
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(first) {
		t.Fatalf("got %q, want 32 hexadecimal characters", first)
	}
	set := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(object *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]struct {
		change func(*unstructured.Unstructured)
		same   bool
	}{
		"nothing changes":              {func(*unstructured.Unstructured) {}, true},
		"a value is set to what it is": {set(int64(0), "spec", "replicas"), true},
		"a value changes":              {set(int64(1), "spec", "replicas"), false},
		"a number becomes a text":      {set("0", "spec", "replicas"), false},
		"a field is added":             {set(false, "spec", "paused"), false},
		"the name changes":             {set("other", "metadata", "name"), false},
		"a label changes":              {set("other", "metadata", "labels", "app"), false},
		"an annotation changes":        {set("other", "metadata", "annotations", "note"), false},
		"the version changes":          {set("apps/v2", "apiVersion"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := parse(t, deployment)
			tc.change(object)
			if got := stampOf(run(t, object, Stamp)); (got == first) != tc.same {
				t.Errorf("got %s, first was %s, want the same: %t", got, first, tc.same)
			}
		})
	}
}

func TestStampKeepsOtherAnnotations(t *testing.T) {
	if got := run(t, parse(t, deployment), Stamp).GetAnnotations(); len(got) != 2 || got["note"] != "theirs" {
		t.Errorf("got %v, want the stamp beside the note", got)
	}
}

func TestStampCoversWhatTheOtherHooksDid(t *testing.T) {
	object := parse(t, deployment)
	all := stampOf(run(t, object, Default()...))
	hooks := map[string][]Hook{
		"Canonical": {Ownership, Labels, Stamp},
		"Ownership": {Canonical, Labels, Stamp},
		"Labels":    {Canonical, Ownership, Stamp},
	}
	for name, others := range hooks {
		t.Run(name, func(t *testing.T) {
			if stampOf(run(t, object, others...)) == all {
				t.Errorf("the stamp is the same without %s", name)
			}
		})
	}
}

func TestStampIsTheSameForEverySpellingOfAnObject(t *testing.T) {
	other := parse(t, `
kind: Deployment
apiVersion: apps/v1
metadata: {annotations: {note: theirs}, labels: {app: web}, name: web, creationTimestamp: null}
spec:
  template:
    spec: {containers: [{resources: {limits: {memory: 1Gi, cpu: 500m}}, image: nginx, name: app}]}
    metadata: {labels: {app: web}}
  selector: {matchLabels: {app: web}}
  replicas: 0
`)
	if a, b := stampOf(run(t, parse(t, deployment), Default()...)), stampOf(run(t, other, Default()...)); a != b {
		t.Errorf("got %s and %s", a, b)
	}
}
