//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

// Additions of another client to an object: kind, name, JSON patch, and the field that must still be there at the end.
var somebodyElses = map[string]struct {
	tampering
	field []string
}{
	"pods restarted by kubectl":            {added("apps/v1/Deployment", `[{"op":"add","path":"/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt","value":"mine"}]`), []string{"spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"}},
	"certificate manager annotates":        {added("networking.k8s.io/v1/Ingress", `[{"op":"add","path":"/metadata/annotations/cert-manager.io~1alt-names","value":"mine"}]`), []string{"metadata", "annotations", "cert-manager.io/alt-names"}},
	"label added":                          {added("v1/Service", `[{"op":"add","path":"/metadata/labels/example.com~1team","value":"mine"}]`), []string{"metadata", "labels", "example.com/team"}},
	"field that is not rendered is set":    {added("v1/Service", `[{"op":"add","path":"/spec/publishNotReadyAddresses","value":true}]`), []string{"spec", "publishNotReadyAddresses"}},
	"key added to a ConfigMap":             {tampering{kind: "v1/ConfigMap", suffix: "-config", patch: `[{"op":"add","path":"/data/MINE","value":"mine"}]`}, []string{"data", "MINE"}},
	"number of replicas while autoscaled":  {added("apps/v1/Deployment", `[{"op":"replace","path":"/spec/replicas","value":2}]`), []string{"spec", "replicas"}},
	"node port and cluster IP allocated":   {added("v1/Service", `[{"op":"add","path":"/metadata/labels/example.com~1team","value":"mine"}]`), []string{"spec"}},
	"volume bound to a claim":              {added("v1/PersistentVolumeClaim", `[]`), []string{"spec", "volumeName"}},
	"defaults filled in by the API server": {added("apps/v1/Deployment", `[]`), []string{"spec", "template", "spec", "dnsPolicy"}},
}

func added(kind, patch string) tampering { return tampering{kind: kind, patch: patch} }

func TestWhatIsSomebodyElsesStays(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	namespace, manager := cluster.ManagedNamespace(t)
	changed := map[string]map[string]any{}
	apps, objects := map[string]*v1.AppService{}, map[string]*unstructured.Unstructured{}
	for name := range somebodyElses {
		apps[name] = everyKind(namespace, strings.ReplaceAll(strings.ToLower(name), " ", "-"))
		apps[name].Spec.PodAnnotations = map[string]v1.Annotation{"example.com/rendered": "yes"}
		if name == "number of replicas while autoscaled" {
			apps[name].Spec.Persistence = nil // the pods of this one run
		}
		if name == "node port and cluster IP allocated" {
			apps[name].Spec.Service = &v1.Service{Type: "NodePort"}
		}
		cluster.Create(t, apps[name])
	}
	for name, stranger := range somebodyElses {
		cluster.Ready(t, apps[name])
		objects[name] = objectOf(t, apps[name], stranger.tampering)
		if err := cluster.Client.Patch(t.Context(), objects[name], client.RawPatch(types.JSONPatchType, []byte(stranger.patch))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		changed[name] = map[string]any{"field": fieldOf(t, objects[name], stranger.field)}
	}
	manager.Rest(t)
	if repairs := repairsOf(t, namespace); len(repairs) > 0 {
		t.Errorf("what is somebody else's was repaired: %q", repairs)
	}
	for name, stranger := range somebodyElses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The next release is applied to the same object.
			cluster.Change(t, apps[name], func(app *v1.AppService) {
				app.Spec.CommonLabels = map[string]v1.Label{"example.com/release": "next"}
			})
			cluster.Ready(t, apps[name])
			harness.Eventually(t, "the next release is there", func() error {
				if err := present(t, objects[name]); err != nil {
					return err
				}
				return want("label", objects[name].GetLabels()["example.com/release"], "next")
			})
			now := map[string]any{"field": fieldOf(t, objects[name], stranger.field)}
			if lost := endstate.Differences("", changed[name], now); len(lost) > 0 {
				t.Errorf("it did not stay (before, now): %s", strings.Join(lost, "\n"))
			}
		})
	}
}

func fieldOf(t *testing.T, object *unstructured.Unstructured, path []string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldCopy(object.Object, path...)
	if err != nil || !found {
		t.Fatal(fmt.Errorf("%s %s has no %v: %w", object.GetKind(), object.GetName(), path, err))
	}
	return value
}
