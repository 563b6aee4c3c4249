package watch

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// If the operator cannot see Gateways, only messages about them change.
func TestGatewaysThatCannotBeSeenAreUnknown(t *testing.T) {
	names := []types.NamespacedName{{Namespace: "infra", Name: "edge"}}
	served := func(context.Context, schema.GroupVersionKind) bool { return true }
	cases := map[string]struct {
		served   func(context.Context, schema.GroupVersionKind) bool
		mayWatch func(context.Context, schema.GroupVersionKind) (bool, error)
		names    []types.NamespacedName
		asked    int
	}{
		"no route":             {served: served, asked: 0},
		"the kind is unserved": {served: func(context.Context, schema.GroupVersionKind) bool { return false }, names: names, asked: 0},
		"a right is missing":   {served: served, names: names, mayWatch: func(context.Context, schema.GroupVersionKind) (bool, error) { return false, nil }, asked: 1},
		"nobody can be asked":  {served: served, names: names, mayWatch: func(context.Context, schema.GroupVersionKind) (bool, error) { return false, errors.New("no answer") }, asked: 1},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			asked := 0
			r := &Referrers{Served: test.served, MayWatch: func(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
				asked++
				return test.mayWatch(ctx, kind)
			}}
			if got := r.Gateways(t.Context(), test.names); got != nil || asked != test.asked {
				t.Errorf("got %v after %d questions, want none after %d", got, asked, test.asked)
			}
		})
	}
}

// The status of a Gateway changes with each route of everybody's.
func TestOnlyAChangeOfItsSpecMakesAGatewayNew(t *testing.T) {
	r := &Referrers{Dependencies: reference.NewDependencies(nil, nil)}
	r.Refer(types.NamespacedName{Namespace: "demo", Name: "web"}, []reference.Reference{{Object: reference.Object{Kind: reference.Gateway, Namespace: "infra", Name: "edge"}}})
	version := func(resource string, generation int64) event.UpdateEvent {
		before, after := kube.Metadata(gateway.Kind), kube.Metadata(gateway.Kind)
		before.Namespace, before.Name, before.ResourceVersion, before.Generation = "infra", "edge", "1", 1
		after.Namespace, after.Name, after.ResourceVersion, after.Generation = "infra", "edge", resource, generation
		return event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	}
	for name, test := range map[string]struct {
		event event.UpdateEvent
		want  int
	}{"the status": {version("2", 1), 0}, "the spec": {version("3", 2), 1}} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			r.events(reference.Gateway).Update(t.Context(), test.event, q)
			if q.Len() != test.want {
				t.Errorf("%d resources are looked at, want %d", q.Len(), test.want)
			}
		})
	}
}

// Gateways are not among the facts of hooks: nothing is rendered again because of one.
func TestFactsLeaveOutGateways(t *testing.T) {
	var asked []string
	r := &Referrers{
		Dependencies: reference.NewDependencies(nil, nil),
		MayWatch: func(_ context.Context, kind schema.GroupVersionKind) (bool, error) {
			asked = append(asked, kind.Kind)
			return false, nil
		},
	}
	ref := reference.Reference{Object: reference.Object{Kind: reference.Gateway, Name: "edge"}, Need: reference.Reported}
	facts, err := r.Facts(t.Context(), &unstructured.Unstructured{}, []reference.Reference{ref})
	if err != nil || len(facts.States) > 0 || len(reference.Missing([]reference.Reference{ref}, facts.States)) > 0 {
		t.Errorf("got %v, %v", facts.States, err)
	}
	if !slices.Equal(asked, []string{"Namespace"}) {
		t.Errorf("looked for %q", asked)
	}
}
