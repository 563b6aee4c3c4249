//go:build cluster

package integration

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// An operator that is newer than the CRDs serves the kinds whose CRDs exist. It ends, to be restarted, once a missing one is created.
func TestACRDIsMissing(t *testing.T) {
	t.Parallel()
	const appService = "- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}\n"
	late := newLate(t, appService)
	cluster.CreateReady(t, harness.Seed(late.namespace, "web"))
	late.comes(t)
}

// An operator none of whose CRDs exists waits for them, and is not ready.
func TestAllCRDsAreMissing(t *testing.T) {
	t.Parallel()
	late := newLate(t, "")
	harness.Eventually(t, "it is not ready, and says why", func() error {
		code, text := late.readyz()
		if code != http.StatusInternalServerError || !strings.Contains(text, "[-]kinds failed") {
			return fmt.Errorf("the probe says %d %s", code, text)
		}
		if log := late.Output.String(); !strings.Contains(log, "kinds are not served: their CRDs are missing") {
			return fmt.Errorf("the log is %s", log)
		}
		return nil
	})
	late.comes(t)
}

// late is an operator that serves a kind whose CRD does not exist yet.
type late struct {
	*process
	namespace, kind, plural string
}

// newLate starts one that serves other kinds, too.
func newLate(t *testing.T, others string) *late {
	t.Helper()
	namespace := cluster.Namespace(t)
	dir, suffix := files.Charts(t), namespace[len(namespace)-5:]
	l := &late{namespace: namespace, kind: "Late" + strings.ToUpper(suffix), plural: "late" + suffix + "s"}
	watches := filepath.Join(dir, "watches.yaml")
	files.Write(t, watches, others+fmt.Sprintf("- {group: example.org, version: v1, kind: %s, chart: helm-charts/appjob}\n", l.kind))
	probe := harness.FreeAddress(t)
	proxy := cluster.Unbound().NewProxy(t) // no role covers the kind
	l.process = &process{harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace, "--watches-file="+watches,
		"--health-probe-bind-address="+probe), proxy, probe}
	return l
}

// comes creates the CRD, and waits until the operator ends.
func (l *late) comes(t *testing.T) {
	t.Helper()
	crd := harness.AnyCRD(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: l.kind}, l.plural)
	cluster.Install(t, crd)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), crd) })
	select {
	case <-l.Ended():
	case <-time.After(harness.Patience):
		t.Fatalf("it did not end within %s", harness.Patience)
	}
	if want := "the cluster serves " + l.kind + " now"; l.State().ExitCode() == 0 || !strings.Contains(l.Output.String(), want) {
		t.Errorf("it ended with code %d, and says not %s: %s", l.State().ExitCode(), want, l.Output.String())
	}
}
