//go:build cluster

package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// transport is a function as http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// A namespace whose writes are never answered does not keep the only worker from another one, and its status says what happens.
func TestRequestsThatAreNeverAnswered(t *testing.T) {
	t.Parallel()
	hangs, works := cluster.Namespace(t), cluster.Namespace(t)
	cluster.Manager(t, hangs, func(options *operator.Options, requests *harness.Requests) {
		options.WatchNamespaces = []string{hangs, works}
		options.MaxConcurrentReconciles, options.ReconcileTimeout = 1, 4*time.Second
		requests.Below = func(next http.RoundTripper) http.RoundTripper {
			return transport(func(request *http.Request) (*http.Response, error) {
				if request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "/namespaces/"+hangs+"/services/") {
					<-request.Context().Done()
					return nil, request.Context().Err()
				}
				return next.RoundTrip(request)
			})
		}
	})
	stuck := []*v1.AppService{harness.Seed(hangs, "one"), harness.Seed(hangs, "two")}
	for _, app := range stuck {
		cluster.Create(t, app)
	}
	cluster.CreateReady(t, harness.Seed(works, "web"))
	for _, app := range stuck {
		ready := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInstallFailed)
		if !strings.Contains(ready.Message, "the API server did not respond in time") {
			t.Errorf("%s says %s", app.Name, ready.Message)
		}
	}
}

// Leftovers of an earlier resource of the name are looked for less and less often, and their deletion is noticed.
func TestWhatIsLeftOfAnEarlierResourceIsWaitedFor(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	held := service(app)
	cluster.Patch(t, held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)))
	cluster.Delete(t, app)
	harness.Eventually(t, "the Service is held", func() error {
		service := &corev1.Service{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(held), service); err != nil {
			return err
		}
		return want("deleted", service.DeletionTimestamp != nil, true)
	})
	again := harness.Seed(namespace, "web")
	cluster.Create(t, again)
	harness.Eventually(t, "it says what it waits for", func() error {
		ready, err := cluster.ConditionNow(t.Context(), again, v1.ConditionReady)
		if err != nil {
			return err
		}
		return want("the message names the finalizer", strings.Contains(ready.Message, "example.com/hold"), true)
	})
	lookups := func() (count int) {
		for _, request := range manager.Requests.Of("services") {
			if request.Verb == "get" {
				count++
			}
		}
		return count
	}
	before, began := lookups(), time.Now()
	harness.Eventually(t, "it looks for it three times more, with two requests each", func() error { return want("lookups", lookups() >= before+6, true) })
	if most := 2 + int(time.Since(began)/(2*time.Second)); lookups() > before+most {
		t.Errorf("it looked %d times within %s, want %d at the most", lookups()-before, time.Since(began), most)
	}
	cluster.Patch(t, held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	cluster.Ready(t, again)
}
