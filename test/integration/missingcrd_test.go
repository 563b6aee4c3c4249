package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/example/appservice-operator/test/harness"
)

// An operator that is newer than the CRDs serves the kinds that are there. It ends, to be started again, when the one is there that was missing.
func TestACRDIsMissing(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "helm-charts"), os.DirFS(filepath.Join(repository(t), "helm-charts"))); err != nil {
		t.Fatal(err)
	}
	kind, plural := "Late"+strings.ToUpper(namespace[len(namespace)-5:]), "late"+namespace[len(namespace)-5:]+"s"
	write(t, filepath.Join(dir, "watches.yaml"), fmt.Sprintf(`- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}
- {group: example.org, version: v1, kind: %s, chart: helm-charts/appjob}
`, kind))
	proxy := cluster.Unbound().NewProxy(t) // no role knows the kind
	process := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace, "--watches-file="+filepath.Join(dir, "watches.yaml"))
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)

	late := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.org",
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
		Scope: apiextensionsv1.NamespaceScoped,
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: ptr.To(true),
			}},
		}},
	}}
	late.Name = plural + ".example.org"
	if err := cluster.InstallCRD(t.Context(), late); err != nil {
		t.Fatal(err)
	}
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
