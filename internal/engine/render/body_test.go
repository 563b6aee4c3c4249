package render

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}, annotations: {note: theirs}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: nginx, args: ["<b>"]}]}
`

// stamped stamps an object.
func stamped(t *testing.T, object *unstructured.Unstructured) Body {
	t.Helper()
	body, err := stamp(object)
	require.NoError(t, err)
	return body
}

func stampOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[postrender.AnnotationStamp]
}

func TestTheStampChangesWithTheContentOnly(t *testing.T) {
	first := parsedObject(t, deployment)
	stamped(t, first)
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(stampOf(first)) {
		t.Fatalf("got %q, want 32 hexadecimal characters", stampOf(first))
	}
	set := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(object *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(object.Object, value, path...))
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
			object := parsedObject(t, deployment)
			tc.change(object)
			stamped(t, object)
			if (stampOf(object) == stampOf(first)) != tc.same {
				t.Errorf("got %s, first was %s, want the same: %t", stampOf(object), stampOf(first), tc.same)
			}
		})
	}
}

func TestTheStampLeavesTheRestAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"annotations":        deployment,
		"no annotations":     "{apiVersion: v1, kind: Service, metadata: {name: web}}",
		"another stamp":      "{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {app.example.com/rendered: '0123'}}}",
		"no other metadata":  "{apiVersion: v1, kind: Service, metadata: {}}",
		"fields before it":   "{apiVersion: v1, kind: ConfigMap, data: {metadata: '\"metadata\":{'}, items: {metadata: {a: b}}, metadata: {name: web}}",
		"characters of HTML": "{apiVersion: v1, kind: ConfigMap, data: {a: '<&>'}, metadata: {name: '<&>'}}",
	} {
		t.Run(name, func(t *testing.T) {
			object, want := parsedObject(t, text), parsedObject(t, text)
			content, err := json.Marshal(want.Object)
			require.NoError(t, err)
			body := stamped(t, object)
			if got, want := stampOf(object), fmt.Sprintf("%x", sha256.Sum256(content))[:32]; got != want {
				t.Errorf("got the stamp %s, want the digest of the JSON, %s", got, want)
			}
			annotations := want.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[postrender.AnnotationStamp] = stampOf(object)
			want.SetAnnotations(annotations)
			if !reflect.DeepEqual(object, want) {
				t.Errorf("got %s\nwant %s", asJSON(t, object), asJSON(t, want))
			}
			if all, err := json.Marshal(want.Object); err != nil || string(body.JSON()) != string(all) {
				t.Errorf("got the body %s\nwant %s (%v)", body.JSON(), all, err)
			}
			want.SetUID(`a "quoted" one`)
			if got := parsedObject(t, string(body.With(map[string]string{"uid": `a "quoted" one`}))); !reflect.DeepEqual(got, want) {
				t.Errorf("with a UID: got %s\nwant %s", asJSON(t, got), asJSON(t, want))
			}
		})
	}
}

func TestTheStampCoversWhatTheHooksDid(t *testing.T) {
	stampWith := func(chain []postrender.Hook) string {
		renderer := shipped(t)
		renderer.Hooks = chain
		return stampOf(find(t, rendered(t, renderer, appService(t, "{image: a}")), "Deployment", "web"))
	}
	all := stampWith(postrender.Default())
	for name, chain := range map[string][]postrender.Hook{
		"Canonical": {postrender.Ownership, postrender.Labels},
		"Ownership": {postrender.Canonical, postrender.Labels},
		"Labels":    {postrender.Canonical, postrender.Ownership},
	} {
		t.Run(name, func(t *testing.T) {
			if stampWith(chain) == all {
				t.Errorf("the stamp is the same without %s", name)
			}
		})
	}
}

func TestTheStampIsTheSameForEverySpellingOfAnObject(t *testing.T) {
	first, other := parsedObject(t, deployment), parsedObject(t, `
kind: Deployment
apiVersion: apps/v1
metadata: {annotations: {note: theirs}, labels: {app: web}, name: web, creationTimestamp: null}
spec:
  template:
    spec: {containers: [{args: ["<b>"], image: nginx, name: app}]}
    metadata: {labels: {app: web}}
  selector: {matchLabels: {app: web}}
  replicas: 0
`)
	for _, object := range []*unstructured.Unstructured{first, other} {
		require.NoError(t, postrender.Canonical(t.Context(), &postrender.Input{}, []*unstructured.Unstructured{object}))
		stamped(t, object)
	}
	if a, b := stampOf(first), stampOf(other); a != b {
		t.Errorf("got %s and %s", a, b)
	}
}

func TestBodiesAreTheObjects(t *testing.T) {
	renderer := shipped(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			result, size := rendered(t, renderer, golden(t, name)), 0
			for _, object := range result.Objects {
				body, found := result.Body(kube.KeyOf(object))
				want, err := json.Marshal(object.Object)
				if err != nil || !found || string(body.JSON()) != string(want) {
					t.Errorf("%s: got %s\nwant %s (%v)", kube.KeyOf(object), body.JSON(), want, err)
				}
				size += len(want)
			}
			if result.Size() != size {
				t.Errorf("got a size of %d bytes, want %d", result.Size(), size)
			}
			if _, found := result.Body(kube.Key{Name: "nobody"}); found {
				t.Error("there is a body of an object that is not rendered")
			}
		})
	}
}
