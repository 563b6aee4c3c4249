//go:build cluster

package integration

import (
	"context"
	"fmt"
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
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	kind, plural := "Late"+strings.ToUpper(namespace[len(namespace)-5:]), "late"+namespace[len(namespace)-5:]+"s"
	files.Write(t, filepath.Join(dir, "watches.yaml"), fmt.Sprintf(`- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}
- {group: example.org, version: v1, kind: %s, chart: helm-charts/appjob}
`, kind))
	proxy := cluster.Unbound().NewProxy(t) // no role covers the kind
	process := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace, "--watches-file="+filepath.Join(dir, "watches.yaml"))
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)

	late := harness.AnyCRD(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: kind}, plural)
	cluster.Install(t, late)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), late) })
	select {
	case <-process.Ended():
	case <-time.After(harness.Patience):
		t.Fatalf("it did not end within %s", harness.Patience)
	}
	if want := "the cluster serves " + kind + " now"; process.State().ExitCode() == 0 || !strings.Contains(process.Output.String(), want) {
		t.Errorf("it ended with code %d, and says not %s: %s", process.State().ExitCode(), want, process.Output.String())
	}
}
