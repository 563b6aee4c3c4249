package watch

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// A request for a kind after its CRD came must find it, whether there was one before or not.
func TestACRDHasTheCapabilitiesReadAgain(t *testing.T) {
	crd := kube.Metadata(CRDKind)
	crd.Name = "servicemonitors.monitoring.coreos.com"
	for name, asking := range map[string][]types.NamespacedName{"somebody asks for the kind": {{Namespace: "demo", Name: "web"}}, "nobody does": nil} {
		t.Run(name, func(t *testing.T) {
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			invalidated := 0
			var delays []time.Duration
			var looked []types.NamespacedName
			events := apiEvents(func(group string) []types.NamespacedName {
				if group != "monitoring.coreos.com" {
					t.Errorf("got group %q", group)
				}
				return asking
			}, func() { invalidated++ }, func(delay time.Duration, look func()) {
				delays = append(delays, delay)
				look()
				for queue.Len() > 0 {
					request, _ := queue.Get()
					looked = append(looked, request.NamespacedName)
					queue.Done(request)
				}
			})
			events.Create(t.Context(), event.CreateEvent{Object: crd}, queue)
			events.Update(t.Context(), event.UpdateEvent{ObjectOld: crd, ObjectNew: crd}, queue)
			events.Delete(t.Context(), event.DeleteEvent{Object: crd}, queue)
			if invalidated != 3 {
				t.Errorf("the capabilities were invalidated %d times, want 3", invalidated)
			}
			if want := slices.Repeat(discoveryDelays[:], 3); !slices.Equal(delays, want) {
				t.Errorf("it looks again after %v, want %v", delays, want)
			}
			if want := slices.Repeat(asking, len(delays)); !slices.Equal(looked, want) {
				t.Errorf("it looks at %v, want %v", looked, want)
			}
		})
	}
}
