package postrender

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// parse reads YAML as rendering does.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &object.Object))
	return object
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	require.NoError(t, err)
	return string(data)
}

// owner is the resource that objects are rendered for.
func owner(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web, namespace: shop, uid: 6a3c, labels: {team: a}, annotations: {note: mine}}
spec: {image: nginx}
`)
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}, annotations: {note: theirs}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: nginx, resources: {limits: {cpu: 0.5, memory: 1024Mi}}}
`

const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: web, labels: {app: web}}
spec: {cpu: 0.5, memory: 1024Mi, unknown: {}, empty: "", list: []}
`

// run puts one object through hooks.
func run(t *testing.T, in *unstructured.Unstructured, hooks ...Hook) *unstructured.Unstructured {
	t.Helper()
	out := in.DeepCopy()
	require.NoError(t, Run(t.Context(), hooks, &Input{Owner: owner(t)}, []*unstructured.Unstructured{out}))
	return out
}

func TestRunStopsAtTheFirstHookThatFails(t *testing.T) {
	var ran []int
	hook := func(number int, err error) Hook {
		return func(context.Context, *Input, []*unstructured.Unstructured) error {
			ran = append(ran, number)
			return err
		}
	}
	cause := errors.New("no")
	err := Run(t.Context(), []Hook{hook(1, nil), hook(2, cause), hook(3, nil)}, &Input{}, nil)
	if !errors.Is(err, cause) {
		t.Errorf("got error %v, want that of the hook", err)
	}
	if !reflect.DeepEqual(ran, []int{1, 2}) {
		t.Errorf("hooks %v ran, want 1 and 2", ran)
	}
}

func TestRunGivesEveryHookAllObjectsAndTheInput(t *testing.T) {
	objects := []*unstructured.Unstructured{parse(t, deployment), parse(t, widget)}
	in := &Input{Owner: owner(t)}
	count := 0
	hook := func(ctx context.Context, got *Input, list []*unstructured.Unstructured) error {
		count++
		if ctx != t.Context() || got != in || len(list) != 2 || list[0] != objects[0] || list[1] != objects[1] {
			t.Errorf("hook %d got other arguments", count)
		}
		return nil
	}
	if err := Run(t.Context(), []Hook{hook, hook}, in, objects); err != nil || count != 2 {
		t.Errorf("%d hooks ran, error %v", count, err)
	}
}

func TestHooksLeaveTheOwnerAlone(t *testing.T) {
	resource := owner(t)
	before := resource.DeepCopy()
	objects := []*unstructured.Unstructured{parse(t, deployment), parse(t, widget)}
	require.NoError(t, Run(t.Context(), Default(), &Input{Owner: resource}, objects))
	assert.Equal(t, before, resource)
}

func TestHooksTakeNoObjects(t *testing.T) {
	assert.NoError(t, Run(t.Context(), Default(), &Input{Owner: owner(t)}, nil))
}

// A label or annotation that is not a string is one that the API server would refuse. Nothing may drop it, and its
// neighbors with it, silently.
func TestMetadataThatIsNoStringIsAnError(t *testing.T) {
	for _, field := range []string{"labels", "annotations"} {
		for kind, version := range map[string]string{"Widget": "example.com/v1", "Service": "v1"} {
			t.Run(field+" of a "+kind, func(t *testing.T) {
				object := parse(t, "{apiVersion: "+version+", kind: "+kind+", metadata: {name: web, "+field+": {tier: front, number: 1}}}")
				err := Run(t.Context(), Default(), &Input{Owner: owner(t)}, []*unstructured.Unstructured{object})
				require.Error(t, err, "it was accepted, as %s", asJSON(t, object.Object["metadata"]))
				if !strings.Contains(err.Error(), kind+` "web"`) {
					t.Errorf("the error does not name the object: %v", err)
				}
			})
		}
	}
}
