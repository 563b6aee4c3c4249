package reference

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// counted is a cluster that counts the reads of each kind of answer.
type counted struct {
	client.Client
	metadata, payloads int
}

func newCounted(objects ...client.Object) *counted {
	c := &counted{}
	c.Client = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, metadata := object.(*metav1.PartialObjectMetadata); metadata {
				c.metadata++
			} else {
				c.payloads++
			}
			return inner.Get(ctx, key, object, options...)
		},
	})
	return c
}

func settings(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "settings", UID: "u"}, Data: data}
}

var settingsObject = Object{Kind: ConfigMap, Name: "settings"}

func TestAPayloadIsReadOnceForEachVersion(t *testing.T) {
	live := newCounted(settings(map[string]string{"a": "1"}))
	d := NewDependencies(live, live)
	look := func(payloads int) State {
		t.Helper()
		state, err := d.Look(t.Context(), "demo", settingsObject, true)
		require.NoError(t, err)
		if live.payloads != payloads {
			t.Errorf("the payload was read %d times, want %d", live.payloads, payloads)
		}
		return state
	}
	first := look(1)
	if diff := cmp.Diff(first, look(1)); diff != "" || !first.Found {
		t.Errorf("the second look differs:\n%s", diff)
	}
	changed := &corev1.ConfigMap{}
	require.NoError(t, live.Get(t.Context(), client.ObjectKey{Namespace: "demo", Name: "settings"}, changed))
	live.payloads = 1
	changed.Data["a"] = "2"
	require.NoError(t, live.Update(t.Context(), changed))
	if second := look(2); second.Data["a"] == first.Data["a"] || second.Data["a"] == "2" {
		t.Errorf("got %v after %v, want another digest and never the value", second.Data, first.Data)
	}
}

// Changes outside of the content of an object do not concern pods.
func TestAVersionOfContentLastsAsLongAsTheContent(t *testing.T) {
	live := newCounted(settings(map[string]string{"a": "1"}))
	d := NewDependencies(live, live)
	seen := map[string]string{}
	for _, step := range []struct {
		what, value, label string
		same               string // the step whose version it has
	}{
		{what: "at first", value: "1", same: "at first"},
		{what: "labeled", value: "1", label: "x", same: "at first"},
		{what: "changed", value: "2", label: "x", same: "changed"},
		{what: "changed back", value: "1", label: "x", same: "changed back"},
	} {
		object := &corev1.ConfigMap{}
		require.NoError(t, live.Get(t.Context(), client.ObjectKey{Namespace: "demo", Name: "settings"}, object))
		object.Data["a"], object.Labels = step.value, map[string]string{"label": step.label}
		require.NoError(t, live.Update(t.Context(), object))
		state, err := d.Look(t.Context(), "demo", settingsObject, true)
		require.NoError(t, err)
		seen[step.what] = state.Version
		for earlier, version := range seen {
			if (version == state.Version) != (earlier == step.what || earlier == step.same) {
				t.Errorf("%s: the version is %s, and it was %s %s", step.what, state.Version, version, earlier)
			}
		}
	}
}

func TestAnInformerThatIsBehindIsNotBelieved(t *testing.T) {
	live := newCounted(settings(map[string]string{"a": "1"}))
	empty := newCounted()
	d := NewDependencies(empty, live)
	if state, err := d.Look(t.Context(), "demo", settingsObject, true); err != nil || !state.Found {
		t.Errorf("what is needed: got %v, %v, want it found: the API server has it", state, err)
	}
	live.metadata = 0
	if state, err := d.Look(t.Context(), "demo", settingsObject, false); err != nil || state.Found || live.metadata > 0 {
		t.Errorf("what is not needed: got %v, %v after %d requests, want none", state, err, live.metadata)
	}
	// The informer shows an older version than the one that was read: it is not read again.
	older := settings(nil)
	older.ResourceVersion = "1"
	newer := settings(map[string]string{"a": "1"})
	newer.ResourceVersion = "5"
	live = newCounted(newer)
	d = NewDependencies(newCounted(older), live)
	for range 2 {
		if _, err := d.Look(t.Context(), "demo", settingsObject, true); err != nil {
			t.Fatal(err)
		}
	}
	if live.payloads != 1 {
		t.Errorf("the payload was read %d times, want once", live.payloads)
	}
}

// Of a Gateway the listeners are kept, and it is read again when they may have changed: each route that comes or goes changes the
// resource version.
func TestAGatewayIsReadOnceForEachGeneration(t *testing.T) {
	edge := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"listeners": []any{map[string]any{"name": "https", "protocol": "HTTPS", "port": int64(443)}}}}}
	edge.SetGroupVersionKind(gateway.Kind)
	edge.SetNamespace("infra")
	edge.SetName("edge")
	edge.SetGeneration(1)
	live := newCounted(edge)
	d := NewDependencies(live, live)
	look := func(payloads int, listener string) {
		t.Helper()
		state, err := d.Look(t.Context(), "demo", Object{Kind: Gateway, Namespace: "infra", Name: "edge"}, false)
		if err != nil || !state.Found || len(state.Gateway.Listeners) != 1 || state.Gateway.Listeners[0].Name != listener {
			t.Errorf("got %+v, %v, want the listener %s", state.Gateway, err, listener)
		}
		if live.payloads != payloads {
			t.Errorf("the Gateway was read %d times, want %d", live.payloads, payloads)
		}
	}
	change := func(edit func(*unstructured.Unstructured)) {
		t.Helper()
		current := &unstructured.Unstructured{}
		current.SetGroupVersionKind(gateway.Kind)
		require.NoError(t, live.Get(t.Context(), client.ObjectKeyFromObject(edge), current))
		live.payloads-- // the test's own
		edit(current)
		require.NoError(t, live.Update(t.Context(), current))
	}
	look(1, "https")
	look(1, "https")
	change(func(g *unstructured.Unstructured) { g.SetAnnotations(map[string]string{"attached": "1"}) })
	look(1, "https")
	change(func(g *unstructured.Unstructured) {
		g.SetGeneration(2)
		_ = unstructured.SetNestedSlice(g.Object, []any{map[string]any{"name": "other"}}, "spec", "listeners")
	})
	look(2, "other")
}

func TestOtherKindsHaveNoPayload(t *testing.T) {
	live := newCounted(&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{"a": "b"}}})
	d := NewDependencies(live, live)
	state, err := d.Look(t.Context(), "demo", Object{Kind: IngressClass, Name: "nginx"}, false)
	if err != nil || !state.Found || state.Data != nil || live.payloads > 0 {
		t.Errorf("got %v, %v after %d reads of payloads", state, err, live.payloads)
	}
	if labels, err := d.Labels(t.Context(), "demo"); err != nil || labels["a"] != "b" {
		t.Errorf("labels of the namespace: got %v, %v", labels, err)
	}
	if labels, err := d.Labels(t.Context(), "none"); !apierrors.IsNotFound(err) {
		t.Errorf("labels of a namespace that the informer does not show: got %v, %v", labels, err)
	}
}

func TestStripKeepsWhatIsAskedFor(t *testing.T) {
	of := func(kind string) *metav1.PartialObjectMetadata {
		object := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: kind}}
		object.Name, object.ResourceVersion, object.UID, object.Generation = "x", "7", "u", 3
		object.Labels, object.Annotations = map[string]string{"a": "b", "pod-security.kubernetes.io/enforce": "baseline"}, map[string]string{"large": "text"}
		return object
	}
	for kind, labels := range map[string]int{"Secret": 0, "Namespace": 2} {
		got, err := Strip(of(kind))
		kept, ok := got.(*metav1.PartialObjectMetadata)
		if err != nil || !ok || kept.Name != "x" || kept.ResourceVersion != "7" || kept.UID != "u" || kept.Generation != 3 || len(kept.Labels) != labels || kept.Annotations != nil {
			t.Errorf("%s: got %v, %v", kind, got, err)
		}
	}
}
