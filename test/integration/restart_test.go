//go:build cluster

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

func TestARestartWritesNothing(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	var apps []*v1.AppService
	for i := range 5 {
		app := harness.Seed(namespace, fmt.Sprintf("web-%d", i))
		app.Spec.Config = &v1.Config{DatabaseURL: "postgres://x", Environment: map[string]v1.ConfigValue{"GREETING": "hello"}}
		app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: app.Name + ".example.com"}}}
		app.Spec.Resources = resources("0.1", "1000m") // the API server normalizes them
		cluster.Create(t, app)
		apps = append(apps, app)
	}
	for _, app := range apps {
		cluster.Ready(t, app)
	}
	first.Rest(t)
	first.Stop(t)

	second := cluster.Manager(t, namespace)
	second.Rest(t)
	if writes := second.Requests.WritesSince(0); len(writes) != 0 {
		t.Errorf("a restart wrote: %v", writes)
	}
	mark := second.Requests.Mark()
	cluster.Change(t, apps[0], func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) })
	cluster.Ready(t, apps[0])
	if len(second.Requests.WritesSince(mark)) == 0 {
		t.Error("the second manager does not work")
	}
}

// Until the API server has answered about a kind, nothing is known of it, and nothing is reported: a running
// application is not less ready for a slow list.
func TestARestartBesideASlowAPIServerWritesNothing(t *testing.T) {
	const longer = 25 * time.Second // than a reconcile waits for a list
	for _, slow := range []string{"/secrets", "/configmaps", "/namespaces"} {
		t.Run(strings.TrimPrefix(slow, "/"), func(t *testing.T) {
			t.Parallel()
			namespace, first := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			app.Spec.Config = &v1.Config{DatabaseURL: "postgres://x"} // with a Secret
			cluster.CreateReady(t, app)
			first.Rest(t)
			first.Stop(t)
			var asked, answered atomic.Int32
			second := cluster.Manager(t, namespace, func(_ *operator.Options, requests *harness.Requests) {
				requests.Below = func(next http.RoundTripper) http.RoundTripper {
					return transport(func(request *http.Request) (*http.Response, error) {
						if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, slow) {
							asked.Add(1)
							defer answered.Add(1)
							select {
							case <-time.After(longer):
							case <-request.Context().Done():
								return nil, request.Context().Err()
							}
						}
						return next.RoundTrip(request)
					})
				}
			})
			harness.Eventually(t, "the lists are answered", func() error {
				return want("lists under way", asked.Load() == 0 || asked.Load() > answered.Load(), false)
			})
			second.Rest(t)
			if writes := second.Requests.WritesSince(0); len(writes) != 0 {
				t.Errorf("after %d lists that took %s, a restart wrote: %v", answered.Load(), longer, writes)
			}
		})
	}
}

// The requests of the operator, counted at its transport.
func TestRequestsOfAnInstallAnUpgradeAndANoOp(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	warm := harness.Seed(namespace, "warm") // the first one also reads discovery
	cluster.CreateReady(t, warm)
	manager.Rest(t)

	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](0) // pods that are slow would be read for a diagnosis
	app.Spec.PodDisruptionBudget = &v1.PodDisruptionBudget{Enabled: ptr.To(true)}
	install := requests(t, manager, func() { cluster.Create(t, app); cluster.Ready(t, app) })
	if got := withoutStatus(install); len(got) != 4 {
		t.Errorf("an install of three objects took %d requests besides status, want 4: %v", len(got), got)
	}
	t.Logf("install of 3 objects: %d requests: %s", len(install), harness.Count(install))

	upgrade := requests(t, manager, func() {
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
		cluster.Ready(t, app)
	})
	if got := withoutStatus(upgrade); len(got) != 4 { // no record is deleted before there are more than are kept
		t.Errorf("an upgrade of one object took %d requests besides status, want 4: %v", len(got), got)
	}
	t.Logf("upgrade of 1 object: %d requests: %s", len(upgrade), harness.Count(upgrade))

	noop := requests(t, manager, func() {
		// An annotation causes a reconcile without effect; the one that follows shows that it is over.
		cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{"example.com/note": "x"} })
	})
	if len(noop) != 0 {
		t.Errorf("a reconcile in sync made requests: %v", noop)
	}
}

func TestAManagerWithoutAClusterSaysSoInOneLine(t *testing.T) {
	t.Parallel()
	for name, kubeconfig := range map[string]string{"none": "", "missing": "/nonexistent/kubeconfig"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectExit(t, harness.Run(t, kubeconfig), "set KUBECONFIG")
		})
	}
}

func TestAManagerRefusesAChartThatIsNotThere(t *testing.T) {
	t.Parallel()
	expectExit(t, harness.Run(t, cluster.Kubeconfig, "--chart-dir="+t.TempDir()), "helm-charts/app")
}

func expectExit(t *testing.T, process *harness.Process, message string) {
	t.Helper()
	select {
	case <-process.Ended():
	case <-time.After(harness.Patience):
		t.Fatal("the manager still runs")
	}
	output := strings.TrimSpace(process.Output.String())
	if process.State().ExitCode() != 1 || strings.Count(output, "\n") != 0 || !strings.Contains(output, message) {
		t.Errorf("got exit code %d and %q, want 1 and one line with %q", process.State().ExitCode(), output, message)
	}
}

// requests returns the requests of a manager from the beginning of an action until it is idle again.
func requests(t *testing.T, manager *harness.Manager, action func()) []harness.Request {
	t.Helper()
	mark := manager.Requests.Mark()
	action()
	manager.Rest(t)
	return manager.Requests.OfObjectsSince(mark)
}

func withoutStatus(requests []harness.Request) []harness.Request {
	var out []harness.Request
	for _, request := range requests {
		if !strings.HasSuffix(request.Path, "/status") {
			out = append(out, request)
		}
	}
	return out
}
