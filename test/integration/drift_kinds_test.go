//go:build cluster

package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

// tampering is a foreign change to an object of an AppService, and the event that reports its repair.
type tampering struct {
	kind   string // version and kind, as in apps/v1/Deployment
	suffix string // of the object's name
	patch  string
	event  string
}

// Each kind that the chart renders, and an edit of it.
var driftOfKinds = map[string]tampering{
	"Deployment":              {"apps/v1/Deployment", "", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":99}}}}`, "apply Deployment NAME: spec.template.spec.terminationGracePeriodSeconds 99 → 30"},
	"Service":                 {"v1/Service", "", `{"spec":{"ports":[{"port":80,"targetPort":81}]}}`, "apply Service NAME: spec.ports[80].targetPort 81 → http"},
	"Ingress":                 {"networking.k8s.io/v1/Ingress", "", `{"spec":{"ingressClassName":"other"}}`, "apply Ingress NAME: spec.ingressClassName other → nginx"},
	"HTTPRoute":               {"gateway.networking.k8s.io/v1/HTTPRoute", "", `{"spec":{"hostnames":["other.example.com"]}}`, "apply HTTPRoute NAME: spec.hostnames[0] other.example.com → NAME.example.com"},
	"GRPCRoute":               {"gateway.networking.k8s.io/v1/GRPCRoute", "", `{"spec":{"hostnames":["other.example.com"]}}`, "apply GRPCRoute NAME: spec.hostnames[0] other.example.com → NAME.example.com"},
	"ListenerSet":             {"gateway.networking.k8s.io/v1/ListenerSet", "", `{"spec":{"parentRef":{"name":"other"}}}`, "apply ListenerSet NAME: spec.parentRef.name"},
	"ConfigMap":               {"v1/ConfigMap", "-config", `{"data":{"GREETING":"tampered"}}`, "apply ConfigMap NAME-config: data.GREETING"},
	"Secret":                  {"v1/Secret", "-config", `{"data":{"DATABASE_URL":"dGFtcGVyZWQ="}}`, "apply Secret NAME-config: data.DATABASE_URL"},
	"HorizontalPodAutoscaler": {"autoscaling/v2/HorizontalPodAutoscaler", "", `{"spec":{"maxReplicas":9}}`, "apply HorizontalPodAutoscaler NAME: spec.maxReplicas 9 → 3"},
	"ScaledObject":            {"keda.sh/v1alpha1/ScaledObject", "", `{"spec":{"maxReplicaCount":9}}`, "apply ScaledObject NAME: spec.maxReplicaCount 9 → 3"},
	"PodDisruptionBudget":     {"policy/v1/PodDisruptionBudget", "", `{"spec":{"maxUnavailable":2}}`, "apply PodDisruptionBudget NAME: spec.maxUnavailable 2 → 1"},
	"PersistentVolumeClaim":   {"v1/PersistentVolumeClaim", "", `{"metadata":{"labels":{"app.kubernetes.io/instance":"other"}}}`, "apply PersistentVolumeClaim NAME: metadata.labels.app.kubernetes.io/instance other → NAME"},
	"retained claim":          {"v1/PersistentVolumeClaim", "", `{"metadata":{"labels":{"app.kubernetes.io/instance":"other"}}}`, "apply PersistentVolumeClaim NAME: metadata.labels.app.kubernetes.io/instance other → NAME"},
	"ServiceAccount":          {"v1/ServiceAccount", "", `{"automountServiceAccountToken":true}`, "apply ServiceAccount NAME: automountServiceAccountToken true → false"},
	"NetworkPolicy":           {"networking.k8s.io/v1/NetworkPolicy", "", `{"spec":{"ingress":[{"ports":[{"port":81,"protocol":"TCP"}]}]}}`, "apply NetworkPolicy NAME: spec.ingress[0].ports[0].port 81 → http"},
	"ServiceMonitor":          {"monitoring.coreos.com/v1/ServiceMonitor", "", `{"spec":{"endpoints":[{"targetPort":"http","path":"/other"}]}}`, "apply ServiceMonitor NAME: spec.endpoints[0].path /other → /metrics"},
}

func TestEachKindThatIsDeletedReturns(t *testing.T) {
	t.Parallel()
	drift(t, driftOfKinds, func(t *testing.T, app *v1.AppService, object *unstructured.Unstructured, _ tampering) {
		old, begin := object.GetUID(), time.Now()
		cluster.Delete(t, object)
		harness.Eventually(t, "it returns", func() error {
			if err := present(t, object); err != nil {
				return err
			}
			if object.GetUID() == old {
				return fmt.Errorf("it is still the old one")
			}
			return nil
		})
		t.Logf("back after %d ms", time.Since(begin).Milliseconds())
		eventually(t, app, v1.ReasonDriftCorrected, "create "+object.GetKind()+" "+object.GetName())
	})
}

func TestEachKindThatIsEditedIsPutBack(t *testing.T) {
	t.Parallel()
	drift(t, driftOfKinds, putBack)
}

// Ways of removing an object from its AppService, or of changing the set of its fields.
var driftOfFields = map[string]tampering{
	"label taken off":              {"v1/Service", "", `{"metadata":{"labels":{"app.kubernetes.io/instance":null}}}`, "apply Service NAME: metadata.labels.app.kubernetes.io/instance (none) → NAME"},
	"annotation taken off":         {"networking.k8s.io/v1/Ingress", "", `{"metadata":{"annotations":{"example.com/rendered":null}}}`, "apply Ingress NAME: metadata.annotations.example.com/rendered"},
	"stamp taken off":              {"v1/Service", "", `{"metadata":{"annotations":{"app.example.com/rendered":null}}}`, "apply Service NAME"},
	"owner reference taken off":    {"v1/Service", "", `{"metadata":{"ownerReferences":null}}`, "create Service NAME"},
	"owner of a Secret taken off":  {"v1/Secret", "-config", `{"metadata":{"ownerReferences":null}}`, "create Secret NAME-config"},
	"managed label taken off":      {"v1/Service", "", `{"metadata":{"labels":{"app.example.com/managed":null}}}`, "create Service NAME"},
	"all of these taken off":       {"apps/v1/Deployment", "", `{"metadata":{"ownerReferences":null,"labels":null}}`, "create Deployment NAME"},
	"mark of a claim taken off":    {"v1/PersistentVolumeClaim", "", `{"metadata":{"annotations":{"app.example.com/retained-for":null}}}`, "create PersistentVolumeClaim NAME"},
	"field removed":                {"networking.k8s.io/v1/Ingress", "", `{"spec":{"ingressClassName":null}}`, "apply Ingress NAME: spec.ingressClassName (none) → nginx"},
	"entry added to a selector":    {"v1/Service", "", `{"spec":{"selector":{"extra":"x"}}}`, "apply Service NAME: spec.selector.extra x → (none)"},
	"rule added to a policy":       {"networking.k8s.io/v1/NetworkPolicy", "", `{"spec":{"ingress":[{"ports":[{"port":"http","protocol":"TCP"}]},{}]}}`, "apply NetworkPolicy NAME: spec.ingress (2 items) → (1 items)"},
	"environment variable changed": {"apps/v1/Deployment", "", `[{"op":"replace","path":"/spec/template/spec/containers/0/env/2/value","value":"tampered"}]`, "apply Deployment NAME: spec.template.spec.containers[app].env[PLAIN].value"},
	"arguments changed":            {"apps/v1/Deployment", "", `[{"op":"replace","path":"/spec/template/spec/containers/0/args/0","value":"tampered"}]`, "apply Deployment NAME: spec.template.spec.containers[app].args[0]"},
	"command changed":              {"apps/v1/Deployment", "", `[{"op":"replace","path":"/spec/template/spec/containers/0/command/0","value":"tampered"}]`, "apply Deployment NAME: spec.template.spec.containers[app].command[0]"},
}

func TestWhatIsTakenOffOrAddedIsPutBack(t *testing.T) {
	t.Parallel()
	drift(t, driftOfFields, putBack)
}

// drift tries each case on an AppService of its own: events of one AppService are grouped after ten.
func drift(t *testing.T, cases map[string]tampering, try func(*testing.T, *v1.AppService, *unstructured.Unstructured, tampering)) {
	withForeignKinds(t)
	namespace, _ := cluster.ManagedNamespace(t)
	for name, tampering := range cases {
		app := everyKind(namespace, strings.ReplaceAll(strings.ToLower(name), " ", "-"))
		switch name {
		case "ScaledObject":
			app.Spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 3, Triggers: []v1.Trigger{{Type: "cron"}}}
		case "GRPCRoute":
			app.Spec.Route.Kind = name
		case "ListenerSet":
			app.Spec.Route.TLS = &v1.RouteTLS{ClusterIssuer: "letsencrypt"}
		}
		retained := strings.Contains(name, "claim")
		app.Spec.Persistence.Retain = &retained
		cluster.Create(t, app)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster.Ready(t, app)
			object := objectOf(t, app, tampering)
			tampering.event = strings.ReplaceAll(tampering.event, "NAME", app.Name)
			try(t, app, object, tampering)
			harness.Eventually(t, "it comes to rest as revision 1", func() error {
				if err := present(t, app); err != nil {
					return err
				}
				return want("revision", app.Status.Release.Revision, 1)
			})
		})
	}
}

func putBack(t *testing.T, app *v1.AppService, object *unstructured.Unstructured, tampering tampering) {
	before := rendered(t, app, object)
	kind := types.MergePatchType
	if strings.HasPrefix(tampering.patch, "[") {
		kind = types.JSONPatchType
	}
	uid, begin := object.GetUID(), time.Now()
	cluster.Patch(t, object, client.RawPatch(kind, []byte(tampering.patch)))
	if len(endstate.Differences("", before, rendered(t, app, object))) == 0 {
		t.Fatal("the edit changed nothing")
	}
	harness.Eventually(t, "it is put back", func() error {
		if err := present(t, object); err != nil {
			return err
		}
		if object.GetUID() != uid {
			t.Fatal("it was replaced instead of repaired")
		}
		if different := endstate.Differences("", before, rendered(t, app, object)); len(different) > 0 {
			return fmt.Errorf("it differs: %s", strings.Join(different, "\n"))
		}
		return nil
	})
	t.Logf("put back after %d ms", time.Since(begin).Milliseconds())
	eventually(t, app, v1.ReasonDriftCorrected, tampering.event)
	for _, note := range repairsOf(t, app.Namespace) {
		if strings.Contains(note, "tampered") || strings.Contains(note, "dGFtcGVyZWQ") {
			t.Errorf("the event tells a value: %s", note)
		}
	}
}

// rendered returns an object without its status and metadata of its history.
func rendered(t *testing.T, app *v1.AppService, object *unstructured.Unstructured) any {
	t.Helper()
	content := object.DeepCopy()
	delete(content.Object, "status")
	annotations := content.GetAnnotations()
	delete(annotations, "deployment.kubernetes.io/revision")
	stamp := annotations["app.example.com/rendered"]
	out := endstate.Anonymous(app, content.Object)
	return map[string]any{"content": out, "stamp": stamp}
}

func objectOf(t *testing.T, app *v1.AppService, of tampering) *unstructured.Unstructured {
	t.Helper()
	slash := strings.LastIndex(of.kind, "/")
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(of.kind[:slash])
	object.SetKind(of.kind[slash+1:])
	object.SetNamespace(app.Namespace)
	object.SetName(app.Name + of.suffix)
	require.NoError(t, present(t, object))
	return object
}

// everyKind creates an AppService that renders an object of each kind, and runs no pod.
func everyKind(namespace, name string) *v1.AppService {
	app := harness.Seed(namespace, name)
	spec := `{"size":0,"command":["nginx"],"args":["-g"],"envs":[{"name":"PLAIN","value":"plain"}],
		"config":{"environment":{"GREETING":"hello"},"databaseUrl":"postgres://x"},
		"ingress":{"className":"nginx","annotations":{"example.com/rendered":"yes"},"hosts":[{"host":"NAME.example.com"}]},
		"route":{"parentRefs":[{"name":"public"}],"hostnames":["NAME.example.com"]},
		"resources":{"requests":{"cpu":"10m"}},"autoscaling":{"maxReplicas":3,"behavior":{"scaleDown":{"selectPolicy":"Disabled"}}},"podDisruptionBudget":{"enabled":true},
		"persistence":{"size":"1Gi","mountPath":"/data","storageClassName":"none"},
		"serviceAccount":{"create":true},"networkPolicy":{"enabled":true},"monitoring":{"enabled":true}}`
	if err := json.Unmarshal([]byte(strings.ReplaceAll(spec, "NAME", name)), &app.Spec); err != nil {
		panic(err) // the text above is wrong
	}
	app.Spec.Size = ptr.To[int32](0)
	return app
}
